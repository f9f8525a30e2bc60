package io.tailrace.detection.coverage;

import java.util.Collection;
import java.util.List;
import java.util.TreeSet;

/**
 * The reason why a rule cannot fire.
 *
 * @param reason a sentence without its full stop, such as "it needs rows_sent, which no event of this log has"
 * @param missingFields fields that the rule needs and no event has, in alphabetical order
 * @param missingClasses event classes that the rule needs and the log does not contain, in alphabetical order
 */
public record MissingRequirement(String reason, List<String> missingFields, List<String> missingClasses) {

    public MissingRequirement {
        missingFields = List.copyOf(missingFields);
        missingClasses = List.copyOf(missingClasses);
    }

    static MissingRequirement because(String reason) {
        return new MissingRequirement(reason, List.of(), List.of());
    }

    /** @param logs description of the logs whose events lack the fields, such as "this log" */
    static MissingRequirement lacks(Collection<String> fields, String logs) {
        List<String> sorted = List.copyOf(new TreeSet<>(fields));
        return new MissingRequirement(
                "it needs " + String.join(" and ", sorted) + ", which no event of " + logs + " has", sorted, List.of());
    }

    MissingRequirement with(String otherReason) {
        return new MissingRequirement(otherReason, missingFields, missingClasses);
    }

    /** Returns the number of missing requirements; the reason with the fewest is the easiest to fix. */
    int size() {
        return missingFields.size() + missingClasses.size();
    }
}
