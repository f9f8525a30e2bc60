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
 * @param detail what is said of it in words, without literals: a sort's keys, a message, a function; may be empty
 * @param selectId number of the SELECT that it is; 0 where it is none
 * @param location where a subquery stands: {@code select list}, {@code condition}, {@code having}, …; empty for others
 * @param access the table that it reads, or null
 * @param join how its rows meet others, or null
 * @param conditions in the order of the document
 * @param flags what else is so
 * @param estimates what was expected
 * @param measurements what was measured
 * @param inputs where its rows come from, in the order in which they are joined
 * @param subqueries statements within its expressions
 * @param others members of the document that the model has no field for, by name, without literals
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

    /** The same, with rows from one more node. */
    PlanNode withInput(PlanNode input) {
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
     * Rows that it was expected to give each time that it runs; NaN where that is not known. A table of version 1 or of
     * MariaDB: rows that meet its conditions.
     */
    public double estimatedRows() {
        if (Double.isNaN(estimates.examinedRows())) {
            return estimates.producedRows();
        }
        double filtered = Double.isNaN(estimates.filteredPercent()) ? 100 : estimates.filteredPercent();
        return estimates.examinedRows() * filtered / 100;
    }
}
