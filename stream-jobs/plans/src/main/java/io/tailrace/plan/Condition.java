package io.tailrace.plan;

/**
 * A condition of a node.
 *
 * @param kind where it is checked: {@code attached}, {@code index}, {@code having}, {@code lookup}, {@code range},
 *     {@code hash}, {@code join}, …
 * @param text as the server prints it, with a question mark for each literal
 * @param leadingWildcard whether a LIKE compares with a pattern that starts with a wildcard, so that no index can be
 *     used
 */
public record Condition(String kind, String text, boolean leadingWildcard) {}
