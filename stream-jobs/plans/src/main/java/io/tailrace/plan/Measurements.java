package io.tailrace.plan;

/**
 * What was measured while the statement ran (EXPLAIN ANALYZE, ANALYZE); NaN where it was not.
 *
 * @param rows that the node gave, the average of its loops: of a table those that were read ({@code r_rows}) or that
 *     left it ({@code actual_rows})
 * @param loops how often the node ran; 0 where it never did
 * @param firstRowMillis until the first row, average of the loops, milliseconds (version 2)
 * @param totalMillis in all loops together, inputs included, milliseconds; of a MariaDB table its own only
 * @param filteredPercent rows that met the conditions, of those read, 0 to 100 (MariaDB)
 */
public record Measurements(
        double rows, double loops, double firstRowMillis, double totalMillis, double filteredPercent) {

    public boolean isKnown() {
        return !Double.isNaN(loops) || !Double.isNaN(rows) || !Double.isNaN(totalMillis);
    }
}
