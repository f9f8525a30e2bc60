package io.tailrace.plan;

import io.tailrace.plan.json.JsonValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One step of a plan.
 *
 * @param operation what it does
 * @param detail description without literals: a sort's keys, a message, a function; may be empty
 * @param selectId number of the SELECT; 0 if the node is not one
 * @param location position of a subquery: {@code select list}, {@code condition}, {@code having}, …; empty for others
 * @param access the table that it reads, or null
 * @param join how its rows are joined, or null
 * @param conditions in the order of the document
 * @param flags further properties
 * @param estimates what the optimizer expected
 * @param measurements what was measured
 * @param inputs nodes that provide its rows, in join order
 * @param subqueries statements within its expressions
 * @param others members of the document for which the model has no field, by name, without literals
 */
public record PlanNode(
        Operation operation,
        String detail,
        int selectId,
        String location,
        TableAccess access,
        JoinMethod join,
        List<Condition> conditions,
        Set<PlanFlag> flags,
        Estimates estimates,
        Measurements measurements,
        List<PlanNode> inputs,
        List<PlanNode> subqueries,
        Map<String, JsonValue> others) {

    public boolean has(PlanFlag flag) {
        return flags.contains(flag);
    }

    /** Returns a copy with one more input. */
    public PlanNode withInput(PlanNode input) {
        List<PlanNode> more = new ArrayList<>(inputs);
        more.add(input);
        return new PlanNode(
                operation,
                detail,
                selectId,
                location,
                access,
                join,
                conditions,
                flags,
                estimates,
                measurements,
                List.copyOf(more),
                subqueries,
                others);
    }

    public boolean isTable() {
        return access != null;
    }

    /**
     * Returns the expected number of rows for each execution of the node; NaN if unknown. For a table of version 1 or
     * of MariaDB these are the rows that meet its conditions.
     */
    public double estimatedRows() {
        if (Double.isNaN(estimates.examinedRows())) {
            return estimates.producedRows();
        }
        double filtered = Double.isNaN(estimates.filteredPercent()) ? 100 : estimates.filteredPercent();
        return estimates.examinedRows() * filtered / 100;
    }
}
