package io.tailrace.plan.json;

/**
 * A document as it was read.
 *
 * @param value what it holds
 * @param from its first byte in the input
 * @param to the byte after its last
 * @param repairs what was not JSON
 * @param doubtful a text ended within one of its literals: what follows may be the rest of that
 */
public record JsonDocument(JsonValue value, int from, int to, Repairs repairs, boolean doubtful) {}
