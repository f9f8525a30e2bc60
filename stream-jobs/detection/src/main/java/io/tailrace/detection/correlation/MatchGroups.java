package io.tailrace.detection.correlation;

import io.tailrace.detection.event.BoundedText;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.sigma.rule.CorrelationRule;
import java.util.ArrayList;
import java.util.List;

/** The groups of a match: the values of the fields by which a correlation groups. */
final class MatchGroups {

    /** An event with several values of several fields belongs to several groups. */
    static final int MAX_GROUPS = 64;

    private MatchGroups() {}

    /** Returns the groups of a match; empty if the event lacks a value for one of the fields. */
    static List<List<String>> of(CorrelationRule rule, String ruleKey, DetectionEvent event) {
        List<String> only = new ArrayList<>(rule.groupBy().size());
        for (String field : rule.groupBy()) {
            List<FieldValue> values = event.values(rule.fieldOf(ruleKey, field));
            if (values.size() > 1) {
                return severalGroups(rule, ruleKey, event);
            }
            if (values.isEmpty() && !rule.optional().contains(field)) {
                return List.of();
            }
            only.add(values.isEmpty() ? "" : BoundedText.of(values.get(0).folded()));
        }
        return List.of(only);
    }

    private static List<List<String>> severalGroups(CorrelationRule rule, String ruleKey, DetectionEvent event) {
        List<List<String>> groups = List.of(List.of());
        for (String field : rule.groupBy()) {
            List<FieldValue> values = event.values(rule.fieldOf(ruleKey, field));
            boolean unknown = values.isEmpty() && rule.optional().contains(field);
            groups = extended(groups, unknown ? List.of(FieldValue.of("")) : values);
        }
        return groups.size() <= MAX_GROUPS ? groups : groups.subList(0, MAX_GROUPS);
    }

    private static List<List<String>> extended(List<List<String>> groups, List<FieldValue> values) {
        List<List<String>> extended = new ArrayList<>();
        for (List<String> group : groups) {
            for (FieldValue value : values) {
                List<String> longer = new ArrayList<>(group);
                longer.add(BoundedText.of(value.folded()));
                extended.add(longer);
            }
        }
        return extended;
    }
}
