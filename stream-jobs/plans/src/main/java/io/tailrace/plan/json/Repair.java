package io.tailrace.plan.json;

/**
 * One position at which a document was not valid JSON.
 *
 * @param kind kind of deviation
 * @param offset bytes from the start of the input
 * @param path position in the document, such as {@code $.query_block.table.attached_condition}
 */
public record Repair(RepairKind kind, int offset, String path) {

    @Override
    public String toString() {
        return kind + " at byte " + offset + " (" + path + ")";
    }
}
