package io.tailrace.plan.shape;

import io.tailrace.plan.PlanNode;
import java.util.List;
import java.util.stream.Collectors;

/**
 * One of the tables that a query joins, or a combination of several queries.
 *
 * @param name the table's name in the statement; {@code insert t}, {@code replace t}; {@code union}, {@code
 *     intersect}, {@code except}
 * @param access its access type; empty if there is none
 * @param indexes the indexes that are used
 * @param buffered whether it is read through a join buffer or by a hash join
 * @param sources the query that fills a derived table, or the queries that are combined
 * @param node node of the plan
 */
record ShapeStep(
        String name, String access, List<String> indexes, boolean buffered, List<QueryShape> sources, PlanNode node) {

    String text() {
        return name + accessText() + sourceText();
    }

    /** Returns a text such as {@code :range(k_date)+buffer}. */
    private String accessText() {
        String used = indexes.isEmpty() ? "" : indexes.stream().collect(Collectors.joining(",", "(", ")"));
        return (access.isEmpty() ? "" : ':' + access + used) + (buffered ? "+buffer" : "");
    }

    private String sourceText() {
        return sources.isEmpty()
                ? ""
                : sources.stream().map(QueryShape::text).collect(Collectors.joining(" | ", "{", "}"));
    }
}
