package io.tailrace.plan;

import java.util.List;

/**
 * How one table is read. Texts are empty and lists are empty where the server says nothing.
 *
 * @param schema the database (version 2 only)
 * @param table the table's own name (version 2), else as {@code alias}
 * @param alias the name that the statement gives it; the table's own where it gives none
 * @param type how its rows are found
 * @param serverType the server's word for that, such as {@code hash_ALL} or {@code index_range_scan}
 * @param index the index that is used; several of an index merge with commas between
 * @param possibleIndexes those that were considered
 * @param keyParts columns of the index that are used
 * @param keyLength bytes of the key that are used, as the server writes them: several of an index merge with commas
 * @param ref what is compared with the key's parts: columns, {@code const}, {@code func}
 * @param partitions those that are read
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

    /** True for what stands for a table in the plan: {@code <derived2>}, {@code <union1,2>}, {@code <temporary>}. */
    public boolean isInternal() {
        return alias.startsWith("<");
    }
}
