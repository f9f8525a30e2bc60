package io.tailrace.plan;

/**
 * What was measured while the statement ran (EXPLAIN ANALYZE, ANALYZE); NaN if it was not measured.
 *
 * @param rows rows that the node returned, averaged over its loops; for a table those that were read ({@code r_rows})
 *     or that left it ({@code actual_rows})
 * @param loops number of executions of the node, which may be 0
 * @param firstRowMillis time to the first row, averaged over the loops, milliseconds (version 2)
 * @param totalMillis time of all loops together, inputs included, milliseconds; for a MariaDB table without its
 *     inputs
 * @param filteredPercent percentage of the read rows that met the conditions, 0 to 100 (MariaDB)
 */
public record Measurements(
        double rows, double loops, double firstRowMillis, double totalMillis, double filteredPercent) {

    public boolean isKnown() {
        return !Double.isNaN(loops) || !Double.isNaN(rows) || !Double.isNaN(totalMillis);
    }
}
