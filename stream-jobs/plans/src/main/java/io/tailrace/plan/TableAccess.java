package io.tailrace.plan;

import java.util.List;

/**
 * How one table is read. Texts and lists are empty if the server does not report them.
 *
 * @param schema the database (version 2 only)
 * @param table the table's own name (version 2); otherwise the same as {@code alias}
 * @param alias the table's name in the statement, which is its own name if there is no alias
 * @param type how its rows are found
 * @param serverType the server's name of the access type, such as {@code hash_ALL} or {@code index_range_scan}
 * @param index the index that is used; several, separated by commas, for an index merge
 * @param possibleIndexes the indexes that were considered
 * @param keyParts columns of the index that are used
 * @param keyLength bytes of the key that are used, as the server writes them; several, separated by commas, for an
 *     index merge
 * @param ref what is compared with the key's parts: columns, {@code const}, {@code func}
 * @param partitions the partitions that are read
 * @param usedColumns columns of the table that the statement needs
 */
public record TableAccess(
        String schema,
        String table,
        String alias,
        AccessType type,
        String serverType,
        String index,
        List<String> possibleIndexes,
        List<String> keyParts,
        String keyLength,
        List<String> ref,
        List<String> partitions,
        List<String> usedColumns) {

    /**
     * Returns whether it is an internal table of the plan: {@code <derived2>}, {@code <union1,2>}, {@code
     * <temporary>}.
     */
    public boolean isInternal() {
        return alias.startsWith("<");
    }
}
