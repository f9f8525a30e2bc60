package io.tailrace.plan.json;

/**
 * The result of reading a document.
 *
 * @param value its content
 * @param from offset of its first byte in the input
 * @param to offset after its last byte
 * @param repairs what was not valid JSON
 * @param doubtful whether a text ended within one of its literals, so that what follows may be the rest of that
 *     literal
 */
public record JsonDocument(JsonValue value, int from, int to, Repairs repairs, boolean doubtful) {}
