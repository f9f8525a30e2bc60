package io.tailrace.detection.sigma.rule;

import java.util.List;
import java.util.Map;

/**
 * The inputs of the compilation of rules.
 *
 * @param placeholders values by the names that the modifier {@code expand} replaces
 * @param fields fields that events have
 */
public record RuleContext(Map<String, List<String>> placeholders, FieldMapping fields) {

    /** No placeholders, and any field. */
    public static final RuleContext NONE = new RuleContext(Map.of(), FieldMapping.ANY);
}
