package io.tailrace.plan.shape;

import io.tailrace.plan.AccessType;
import io.tailrace.plan.IndexMerge;
import io.tailrace.plan.Operation;
import io.tailrace.plan.Plan;
import io.tailrace.plan.PlanFlag;
import io.tailrace.plan.PlanNode;
import io.tailrace.plan.TableAccess;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * Derives a plan's shape: for each query the tables in join order, the access type and index of each, the use of a
 * join buffer, sorts and temporary tables; likewise for its derived tables and subqueries. Only information that
 * every format contains is included, in the terms of version 1, so that a plan has the same shape in all formats of a
 * server.
 */
final class PlanShape {

    /** Version 2 has a separate scan of a temporary table, which version 1 does not mention. */
    private static final Set<String> UNMENTIONED =
            Set.of("<temporary>", "<union temporary>", "<intersect temporary>", "<except temporary>");

    /** Versions 1 and 2 name different indexes of it. */
    private static final String MATERIALIZED_SUBQUERY = "<materialized_subquery>";

    private final List<ShapeStep> steps = new ArrayList<>();
    private final List<QueryShape> subqueries = new ArrayList<>();
    private boolean sorts;
    private boolean temporary;
    /** The next table is read through a join buffer or by a lookup in a hash table. */
    private boolean buffered;

    private PlanShape() {}

    static QueryShape of(Plan plan) {
        return query(List.of(plan.root()));
    }

    private static QueryShape query(List<PlanNode> nodes) {
        PlanShape shape = new PlanShape();
        for (PlanNode node : nodes) {
            shape.add(node);
        }
        shape.subqueries.sort(Comparator.comparing(QueryShape::text));
        return new QueryShape(List.copyOf(shape.steps), shape.sorts, shape.temporary, List.copyOf(shape.subqueries));
    }

    private void add(PlanNode node) {
        switch (node.operation()) {
            case TABLE, INDEX_MERGE -> table(node);
            case JOIN -> join(node);
            case UNION, INTERSECT, EXCEPT -> combine(node, node.operation());
            case INSERT, REPLACE -> write(node);
            default -> {
                effort(node);
                inputs(node);
            }
        }
        for (PlanNode subquery : node.subqueries()) {
            QueryShape shape = query(List.of(subquery));
            if (!shape.isEmpty()) {
                subqueries.add(shape);
            }
        }
    }

    private void effort(PlanNode node) {
        sorts |= node.has(PlanFlag.FILESORT);
        boolean stores = node.operation() != Operation.MATERIALIZE && node.operation() != Operation.BUFFER;
        temporary |= stores && node.has(PlanFlag.TEMPORARY_TABLE);
    }

    private void inputs(PlanNode node) {
        if (node.operation() == Operation.MATERIALIZE && node.has(PlanFlag.RECURSIVE)) {
            combine(node, Operation.UNION);
        } else {
            for (PlanNode input : node.inputs()) {
                add(input);
            }
        }
    }

    private void join(PlanNode node) {
        boolean hash = node.join() != null && node.join().algorithm().equals("hash");
        for (int i = 0; i < node.inputs().size(); i++) {
            buffered |= hash && i > 0;
            add(node.inputs().get(i));
        }
    }

    /** Adds the shape of each of the combined queries. */
    private void combine(PlanNode node, Operation operation) {
        sorts |= node.has(PlanFlag.FILESORT);
        List<QueryShape> queries =
                node.inputs().stream().map(input -> query(List.of(input))).toList();
        steps.add(new ShapeStep(operation.label(), "", List.of(), false, queries, node));
    }

    private void write(PlanNode node) {
        if (node.isTable()) {
            steps.add(written(node, node.operation()));
        }
        inputs(node);
    }

    private static ShapeStep written(PlanNode node, Operation operation) {
        String name = operation.label() + ' ' + node.access().alias();
        return new ShapeStep(name, "", List.of(), false, List.of(), node);
    }

    private void table(PlanNode node) {
        TableAccess access = node.access();
        if (access == null || UNMENTIONED.contains(access.alias())) {
            effort(node);
            inputs(node);
        } else if (node.has(PlanFlag.INSERTED)) {
            steps.add(written(node, Operation.INSERT));
        } else if (node.has(PlanFlag.REPLACED)) {
            steps.add(written(node, Operation.REPLACE));
        } else {
            boolean through = buffered || node.has(PlanFlag.JOIN_BUFFER);
            buffered = false;
            read(node, access, through);
        }
    }

    /**
     * Adds the access to a table, except constant tables, which are read during optimization and which version 2 does
     * not mention.
     */
    private void read(PlanNode node, TableAccess access, boolean through) {
        if (access.type() == AccessType.CONST || access.type() == AccessType.SYSTEM) {
            return;
        }
        boolean lookup = access.alias().equals(MATERIALIZED_SUBQUERY);
        // The scans below an index merge belong to the table.
        boolean hasSource =
                node.operation() == Operation.TABLE && !node.inputs().isEmpty();
        steps.add(new ShapeStep(
                name(node),
                lookup ? "" : type(access),
                indexes(access),
                through,
                hasSource ? List.of(query(node.inputs())) : List.of(),
                node));
    }

    /**
     * Returns the indexes of an access. Those of internal tables are omitted, because their names differ between
     * versions.
     */
    private static List<String> indexes(TableAccess access) {
        boolean own = access.isInternal() || access.index().startsWith("<auto");
        return own ? List.of() : IndexMerge.indexes(access.index());
    }

    /** Returns the name of the table; version 2 does not name the table that a function creates. */
    private static String name(PlanNode node) {
        return node.has(PlanFlag.TABLE_FUNCTION)
                ? "<table function>"
                : node.access().alias();
    }

    /**
     * Returns the access type. Lookups of subqueries count as lookups, because version 2 does not always state
     * whether they also search for NULL.
     */
    private static String type(TableAccess access) {
        return switch (access.type()) {
            case UNIQUE_SUBQUERY -> AccessType.EQ_REF.label();
            case INDEX_SUBQUERY, REF_OR_NULL -> AccessType.REF.label();
            case UNKNOWN -> access.serverType();
            default -> access.type().label();
        };
    }
}
