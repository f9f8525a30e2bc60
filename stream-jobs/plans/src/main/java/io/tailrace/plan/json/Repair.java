package io.tailrace.plan.json;

/**
 * One place where a document was not JSON.
 *
 * @param kind what was wrong
 * @param offset bytes from the start of the input
 * @param path where in the document, such as {@code $.query_block.table.attached_condition}
 */
public record Repair(RepairKind kind, int offset, String path) {

    @Override
    public String toString() {
        return kind + " at byte " + offset + " (" + path + ")";
    }
}
