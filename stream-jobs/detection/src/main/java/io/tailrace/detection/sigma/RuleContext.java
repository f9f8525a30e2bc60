package io.tailrace.detection.sigma;

import java.util.List;
import java.util.Map;

/**
 * What rules are compiled with.
 *
 * @param placeholders values by the names that the modifier {@code expand} replaces
 * @param fields the fields that events have
 */
public record RuleContext(Map<String, List<String>> placeholders, FieldMapping fields) {

    /** No placeholders, any field. */
    public static final RuleContext NONE = new RuleContext(Map.of(), FieldMapping.ANY);
}
