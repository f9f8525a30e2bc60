package io.tailrace.plan.advice;

import io.tailrace.plan.AccessType;
import io.tailrace.plan.Condition;
import io.tailrace.plan.Operation;
import io.tailrace.plan.Plan;
import io.tailrace.plan.PlanFlag;
import io.tailrace.plan.PlanNode;
import io.tailrace.plan.TableAccess;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Derives advice from a plan alone. The definitions of the tables are unknown, so the advice states what to check and
 * why, and contains no statement to run. Not thread-safe.
 */
public final class Advisor {

    /** Number of rows from which a full scan without a condition is reported. */
    private static final double LARGE_TABLE = 100_000;
    /** Maximum number of columns of a proposed index: more make it large for little benefit. */
    private static final int MAX_COLUMNS = 4;
    /** Maximum number of characters of a condition that is shown as evidence. */
    private static final int MAX_EVIDENCE_LENGTH = 160;

    private final List<Advice> advice = new ArrayList<>();

    private Advisor() {}

    /** Returns the advice for a plan in the order of its nodes, without duplicates. */
    public static List<Advice> of(Plan plan) {
        Advisor advisor = new Advisor();
        advisor.visit(plan.root(), List.of(), true);
        return advisor.advice.stream().distinct().toList();
    }

    /**
     *
     * @param around conditions of the filters and joins around the node, which its rows must also meet
     * @param leads whether it is the first table of its join, so that there are no other rows to compare with
     */
    private void visit(PlanNode node, List<Condition> around, boolean leads) {
        boolean scoped = node.operation() == Operation.QUERY_BLOCK || node.operation() == Operation.MATERIALIZE;
        List<Condition> conditions = new ArrayList<>(scoped ? List.of() : around);
        node.conditions().stream().filter(c -> !c.kind().equals("having")).forEach(conditions::add);
        if (node.isTable() && !node.access().isInternal() && node.operation() != Operation.INDEX_MERGE) {
            table(node, conditions, leads);
        }
        effort(node);
        boolean ownRows = node.isTable() && node.operation() != Operation.INDEX_MERGE;
        for (int i = 0; i < node.inputs().size(); i++) {
            boolean leading = node.operation() == Operation.JOIN ? leads && i == 0 : leads || ownRows;
            visit(node.inputs().get(i), ownRows ? List.of() : conditions, leading);
        }
        node.subqueries().forEach(subquery -> visit(subquery, List.of(), true));
    }

    private void table(PlanNode node, List<Condition> conditions, boolean leads) {
        if (!Warnings.isLargeScan(node)) {
            return;
        }
        TableAccess access = node.access();
        String evidence = rows(node) + evidence(conditions);
        boolean hindered = hindered(access, conditions, evidence);
        Set<String> columns = columns(access, conditions, leads);
        if (columns.isEmpty()) {
            if (node.has(PlanFlag.FILTERED) && access.type() == AccessType.ALL) {
                unknownCondition(access, evidence);
            } else if (!hindered) {
                noCondition(node, conditions, evidence);
            }
        } else if (access.type() == AccessType.INDEX && node.has(PlanFlag.INDEX_ONLY)) {
            add(
                    Advice.Kind.UNUSED_LEADING_KEY_PART,
                    access,
                    "index " + access.index() + " holds " + list(columns) + " but does not start with it: an index that"
                            + " does would read only the rows that match",
                    evidence);
        } else if (access.possibleIndexes().isEmpty()) {
            add(
                    Advice.Kind.MISSING_INDEX,
                    access,
                    "no index can be used: consider one on (" + String.join(", ", columns) + ")",
                    evidence);
        } else {
            add(
                    Advice.Kind.UNUSED_INDEX,
                    access,
                    "all rows are read though " + String.join(", ", access.possibleIndexes()) + " could be used: check"
                            + " whether " + list(columns)
                            + " selects few rows and statistics are fresh (ANALYZE TABLE)",
                    evidence);
        }
    }

    /** Adds advice for a condition that the rows of EXPLAIN report without its text. */
    private void unknownCondition(TableAccess access, String evidence) {
        if (access.possibleIndexes().isEmpty()) {
            add(
                    Advice.Kind.MISSING_INDEX,
                    access,
                    "all rows are read and checked, and no index can be used: consider one on what the statement compares",
                    evidence);
        } else {
            add(
                    Advice.Kind.UNUSED_INDEX,
                    access,
                    "all rows are read and checked though " + String.join(", ", access.possibleIndexes())
                            + " could be used: check whether the condition selects few rows and statistics are fresh"
                            + " (ANALYZE TABLE)",
                    evidence);
        }
    }

    private void noCondition(PlanNode node, List<Condition> conditions, String evidence) {
        boolean filtered = conditions.stream()
                .anyMatch(c -> c.text().contains(node.access().alias()));
        boolean large = Warnings.scannedRows(node) >= LARGE_TABLE;
        if (!filtered && large && node.access().type() == AccessType.ALL) {
            add(
                    Advice.Kind.FULL_SCAN,
                    node.access(),
                    "all rows are read: no condition says which are needed",
                    evidence);
        }
    }

    /** Adds advice for conditions that cannot use an index in their current form. */
    private boolean hindered(TableAccess access, List<Condition> conditions, String evidence) {
        int before = advice.size();
        for (Condition condition : conditions) {
            Predicates predicates = new Predicates(condition.text(), access.alias());
            predicates
                    .functions()
                    .forEach(function -> add(
                            Advice.Kind.NON_SARGABLE,
                            access,
                            function
                                    + " is compared: an index on the column cannot serve that; compare the column itself",
                            evidence));
            predicates
                    .conversions()
                    .forEach(column -> add(
                            Advice.Kind.IMPLICIT_CONVERSION,
                            access,
                            column + " is converted before it is compared: give both sides one type and character set",
                            evidence));
            if (condition.leadingWildcard() && condition.text().contains(access.alias())) {
                add(
                        Advice.Kind.NON_SARGABLE,
                        access,
                        "LIKE with a pattern that starts with a wildcard reads every row: consider a full-text index",
                        evidence);
            }
        }
        return advice.size() > before;
    }

    /** Returns the columns with an equality first, then one with a range: an index can use no more. */
    private static Set<String> columns(TableAccess access, List<Condition> conditions, boolean leads) {
        Set<String> equal = new LinkedHashSet<>();
        Set<String> ranges = new LinkedHashSet<>();
        for (Condition condition : conditions) {
            Predicates predicates = new Predicates(condition.text(), access.alias());
            if (!predicates.hasAlternatives()) {
                equal.addAll(predicates.equal());
                equal.addAll(leads ? Set.of() : predicates.joined());
                if (!condition.leadingWildcard()) {
                    ranges.addAll(predicates.ranges());
                }
            }
        }
        ranges.removeAll(equal);
        Set<String> columns = equal.stream().limit(MAX_COLUMNS).collect(Collectors.toCollection(LinkedHashSet::new));
        ranges.stream().limit(columns.size() < MAX_COLUMNS ? 1 : 0).forEach(columns::add);
        return columns;
    }

    private void effort(PlanNode node) {
        if (node.has(PlanFlag.SORT_ON_DISK)) {
            advice.add(new Advice(
                    Advice.Kind.FILESORT,
                    "",
                    "the sort wrote to disk: an index in its order, fewer columns or a larger sort_buffer_size avoid that",
                    node.detail()));
        } else if (node.has(PlanFlag.FILESORT) && isLarge(node)) {
            advice.add(new Advice(
                    Advice.Kind.FILESORT,
                    "",
                    "many rows are sorted: an index in this order would give them sorted",
                    node.detail() + sorted(node)));
        }
        if (node.has(PlanFlag.TEMPORARY_TABLE) && isLarge(node) && node.operation() != Operation.MATERIALIZE) {
            advice.add(new Advice(
                    Advice.Kind.TEMPORARY_TABLE,
                    "",
                    "a temporary table holds many rows, on disk where it outgrows tmp_table_size: an index on what is"
                            + " grouped or made distinct avoids it",
                    node.detail() + sorted(node)));
        }
    }

    private static boolean isLarge(PlanNode node) {
        return largest(node) >= Warnings.MANY_ROWS;
    }

    private static String sorted(PlanNode node) {
        return (node.detail().isEmpty() ? "" : ", ") + "up to " + Warnings.whole(largest(node)) + " rows";
    }

    /**
     * Returns the maximum number of rows that may reach a node. For a join of version 1, the last table has the rows
     * of the whole join.
     */
    private static double largest(PlanNode node) {
        double rows = 0;
        for (PlanNode input : node.inputs()) {
            double produced = input.estimates().producedRows();
            double own = Double.isNaN(produced) ? input.estimatedRows() : produced;
            double measured = input.measurements().rows();
            rows = Math.max(rows, Double.isNaN(measured) ? Double.isNaN(own) ? 0 : own : measured);
            rows = Math.max(rows, Double.isNaN(own) && Double.isNaN(measured) ? largest(input) : 0);
        }
        return rows;
    }

    private void add(Advice.Kind kind, TableAccess access, String text, String evidence) {
        advice.add(new Advice(kind, access.alias(), text, evidence));
    }

    private static String list(Set<String> columns) {
        return String.join(", ", columns);
    }

    private static String rows(PlanNode node) {
        String what = node.access().type() == AccessType.INDEX
                ? " rows of index " + node.access().index()
                : " rows";
        return "reads " + Warnings.whole(Warnings.scannedRows(node)) + what;
    }

    private static String evidence(List<Condition> conditions) {
        String text = conditions.stream().map(Condition::text).collect(Collectors.joining(" and "));
        return text.isEmpty() ? "" : " for " + shortened(text);
    }

    private static String shortened(String text) {
        return text.length() <= MAX_EVIDENCE_LENGTH ? text : text.substring(0, MAX_EVIDENCE_LENGTH) + "…";
    }
}
