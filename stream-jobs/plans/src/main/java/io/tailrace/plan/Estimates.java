package io.tailrace.plan;

/**
 * What the optimizer expected; NaN where it does not say. Costs are in the optimizer's own unit: MySQL's is near that of
 * reading a page, MariaDB's from 11.0 on milliseconds; costs of different products must not be compared.
 *
 * @param examinedRows rows read for each scan of the table ({@code rows_examined_per_scan}, {@code rows})
 * @param producedRows rows that leave the node: of version 1 for the whole join so far
 *     ({@code rows_produced_per_join}), of version 2 for each time that the node runs ({@code estimated_rows})
 * @param filteredPercent rows that meet the conditions, of those examined, 0 to 100
 * @param cost up to this node, its inputs included: {@code query_cost}, {@code prefix_cost},
 *     {@code estimated_total_cost}, MariaDB's {@code cost}
 * @param loops how often the node runs (MariaDB from 11.0 on)
 */
public record Estimates(double examinedRows, double producedRows, double filteredPercent, double cost, double loops) {}
