package io.tailrace.detection.coverage;

import java.util.Collection;
import java.util.List;
import java.util.TreeSet;

/**
 * Why a rule cannot fire.
 *
 * @param reason a sentence without its full stop, such as "it needs rows_sent, which no event of this log has"
 * @param missingFields fields that the rule needs and no event has, in the order of the alphabet
 * @param missingClasses classes of events that it asks for and the log does not contain, in the same order
 */
public record MissingRequirement(String reason, List<String> missingFields, List<String> missingClasses) {

    public MissingRequirement {
        missingFields = List.copyOf(missingFields);
        missingClasses = List.copyOf(missingClasses);
    }

    static MissingRequirement because(String reason) {
        return new MissingRequirement(reason, List.of(), List.of());
    }

    /** @param logs whose events have none of the fields: "this log" */
    static MissingRequirement lacks(Collection<String> fields, String logs) {
        List<String> sorted = List.copyOf(new TreeSet<>(fields));
        return new MissingRequirement(
                "it needs " + String.join(" and ", sorted) + ", which no event of " + logs + " has", sorted, List.of());
    }

    MissingRequirement with(String otherReason) {
        return new MissingRequirement(otherReason, missingFields, missingClasses);
    }

    /** How much is missing: the fewer, the sooner is it mended. */
    int size() {
        return missingFields.size() + missingClasses.size();
    }
}
