package io.tailrace.tags;

import java.util.Map;

/**
 * What the comments of a statement state about its origin.
 *
 * @param tags values by key: only keys in {@link TagKeys}, at most one value each
 * @param traceId 32 hexadecimal digits, or empty
 * @param spanId 16 hexadecimal digits, or empty
 */
public record StatementTags(Map<String, String> tags, String traceId, String spanId) {

    /** A statement without such a comment. */
    public static final StatementTags NONE = new StatementTags(Map.of(), "", "");

    public StatementTags {
        tags = Map.copyOf(tags);
    }
}
