package io.tailrace.plan;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a plan is apart from its numbers: for each query the tables in the order in which they are joined, how each is
 * read, by which index, whether through a join buffer, whether the query sorts and whether it needs a temporary table;
 * its derived tables and subqueries likewise. Only what every format tells counts, in the words of the first: so the
 * same plan has one shape in all formats of a server.
 */
final class PlanShape {

    /** Version 2 reads a temporary table by a scan of its own; version 1 does not mention that. */
    private static final Set<String> UNMENTIONED =
            Set.of("<temporary>", "<union temporary>", "<intersect temporary>", "<except temporary>");

    private static final String MATERIALIZED_SUBQUERY = "<materialized_subquery>";

    private final List<String> steps = new ArrayList<>();
    private final List<String> subqueries = new ArrayList<>();
    private boolean sorts;
    private boolean temporary;
    /** The next table is read through a join buffer or fills a hash table. */
    private boolean buffered;

    private PlanShape() {}

    /** The shape as text, such as {@code o:range(k_date) i:ref(PRIMARY) +filesort}. */
    static String of(Plan plan) {
        return query(List.of(plan.root()));
    }

    private static String query(List<PlanNode> nodes) {
        PlanShape shape = new PlanShape();
        nodes.forEach(shape::add);
        return shape.text();
    }

    private String text() {
        StringBuilder text = new StringBuilder(String.join(" ", steps));
        append(text, sorts, "+filesort");
        append(text, temporary, "+temporary");
        subqueries.stream().sorted().forEach(subquery -> append(text, true, "(" + subquery + ")"));
        return text.toString();
    }

    private static void append(StringBuilder text, boolean holds, String word) {
        if (holds) {
            text.append(text.length() == 0 ? "" : " ").append(word);
        }
    }

    private void add(PlanNode node) {
        switch (node.operation()) {
            case TABLE, INDEX_MERGE -> table(node);
            case JOIN -> join(node);
            case UNION, INTERSECT, EXCEPT -> combine(node, node.operation().label());
            case INSERT, REPLACE -> {
                if (node.isTable()) {
                    steps.add(node.operation().label() + ' ' + node.access().alias());
                }
                inputs(node);
            }
            default -> {
                effort(node);
                inputs(node);
            }
        }
        for (PlanNode subquery : node.subqueries()) {
            String text = query(List.of(subquery));
            if (!text.isEmpty()) {
                subqueries.add(text);
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
            combine(node, Operation.UNION.label());
        } else {
            node.inputs().forEach(this::add);
        }
    }

    private void join(PlanNode node) {
        boolean hash = node.join() != null && node.join().algorithm().equals("hash");
        for (int i = 0; i < node.inputs().size(); i++) {
            buffered |= hash && i > 0;
            add(node.inputs().get(i));
        }
    }

    /** Each of the queries has a shape of its own. */
    private void combine(PlanNode node, String word) {
        sorts |= node.has(PlanFlag.FILESORT);
        String queries =
                node.inputs().stream().map(input -> query(List.of(input))).collect(Collectors.joining(" | "));
        steps.add(word + "[" + queries + "]");
    }

    private void table(PlanNode node) {
        TableAccess access = node.access();
        if (access == null || UNMENTIONED.contains(access.alias())) {
            effort(node);
            inputs(node);
            return;
        }
        boolean through = buffered || node.has(PlanFlag.JOIN_BUFFER);
        buffered = false;
        // Constant tables are read while optimizing: version 2 does not mention them.
        boolean constant = access.type() == AccessType.CONST || access.type() == AccessType.SYSTEM;
        if (!constant) {
            steps.add(verb(node) + name(node) + access(node) + (through ? "+buffer" : "") + materialized(node));
        }
    }

    /** Of what a function makes version 2 does not tell the name. */
    private static String name(PlanNode node) {
        return node.has(PlanFlag.TABLE_FUNCTION)
                ? "<table function>"
                : node.access().alias();
    }

    private static String verb(PlanNode node) {
        return node.has(PlanFlag.INSERTED) ? "insert " : node.has(PlanFlag.REPLACED) ? "replace " : "";
    }

    private static String access(PlanNode node) {
        TableAccess access = node.access();
        if (node.has(PlanFlag.INSERTED)
                || node.has(PlanFlag.REPLACED)
                || access.alias().equals(MATERIALIZED_SUBQUERY)) {
            return "";
        }
        String indexes = String.join(",", IndexMerge.indexes(access.index()));
        return ':' + type(access) + (indexes.isEmpty() ? "" : '(' + indexes + ')');
    }

    /** Lookups of subqueries are lookups; whether NULL is looked for too, version 2 says only of some. */
    private static String type(TableAccess access) {
        return switch (access.type()) {
            case UNIQUE_SUBQUERY -> AccessType.EQ_REF.label();
            case INDEX_SUBQUERY, REF_OR_NULL -> AccessType.REF.label();
            case UNKNOWN -> access.serverType();
            default -> access.type().label();
        };
    }

    private static String materialized(PlanNode node) {
        if (node.operation() == Operation.INDEX_MERGE || node.inputs().isEmpty()) {
            return "";
        }
        return "{" + query(node.inputs()) + "}";
    }
}
