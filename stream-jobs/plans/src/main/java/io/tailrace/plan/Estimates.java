package io.tailrace.plan;

/**
 * The optimizer's estimates; NaN if it does not report them. Costs are in the optimizer's own unit: MySQL's is about
 * the cost of reading a page, MariaDB's from 11.0 on milliseconds. Costs of different products are not comparable.
 *
 * @param examinedRows rows read for each scan of the table ({@code rows_examined_per_scan}, {@code rows})
 * @param producedRows rows that leave the node: in version 1 for the whole join so far ({@code
 *     rows_produced_per_join}), in version 2 for each execution of the node ({@code estimated_rows})
 * @param filteredPercent percentage of the examined rows that meet the conditions, 0 to 100
 * @param cost cost up to this node, its inputs included: {@code query_cost}, {@code prefix_cost}, {@code
 *     estimated_total_cost}, MariaDB's {@code cost}
 * @param loops number of executions of the node (MariaDB from 11.0 on)
 */
public record Estimates(double examinedRows, double producedRows, double filteredPercent, double cost, double loops) {}
