package io.tailrace.plan.shape;

import io.tailrace.plan.Plan;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Compares the shapes of two plans: added and removed tables, changed access, indexes and join order, sorts and
 * temporary tables. Plans with the same hash have no differences. Not thread-safe.
 */
public final class PlanDiff {

    private final List<PlanDifference> changes = new ArrayList<>();

    private PlanDiff() {}

    /** Returns the differences, outermost query first; empty if the plans have the same shape. */
    public static List<PlanDifference> of(Plan before, Plan after) {
        PlanDiff diff = new PlanDiff();
        diff.compare("", PlanShape.of(before), PlanShape.of(after));
        return List.copyOf(diff.changes);
    }

    private void compare(String query, QueryShape before, QueryShape after) {
        if (before.text().equals(after.text())) {
            return;
        }
        List<ShapeStep> common = steps(query, before.steps(), after.steps());
        order(query, common, after.steps());
        effort(query, "filesort", before.sorts(), after.sorts());
        effort(query, "temporary table", before.temporary(), after.temporary());
        queries(query, "subquery", before.subqueries(), after.subqueries());
    }

    /** Compares tables of the same name; returns those of {@code before} that are in both. */
    private List<ShapeStep> steps(String query, List<ShapeStep> before, List<ShapeStep> after) {
        List<ShapeStep> left = new ArrayList<>(after);
        List<ShapeStep> common = new ArrayList<>();
        for (ShapeStep step : before) {
            ShapeStep same = named(step.name(), left);
            if (same == null) {
                changes.add(new PlanDifference(PlanDifference.Kind.REMOVED, query, step.name(), text(step), ""));
            } else {
                left.remove(same);
                common.add(step);
                compare(query, step, same);
            }
        }
        left.forEach(
                step -> changes.add(new PlanDifference(PlanDifference.Kind.ADDED, query, step.name(), "", text(step))));
        return common;
    }

    private static ShapeStep named(String name, List<ShapeStep> steps) {
        return steps.stream()
                .filter(step -> step.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    private void compare(String query, ShapeStep before, ShapeStep after) {
        if (!text(before).equals(text(after))) {
            changes.add(
                    new PlanDifference(PlanDifference.Kind.CHANGED, query, before.name(), text(before), text(after)));
        }
        queries(query, before.name(), before.sources(), after.sources());
    }

    /** Describes how a table is read, without the query that fills it. */
    private static String text(ShapeStep step) {
        String access = step.access().isEmpty() ? "" : step.access();
        String index = step.indexes().isEmpty() ? "" : " using " + String.join(",", step.indexes());
        return access + index + (step.buffered() ? " through a join buffer" : "");
    }

    /** Reports a changed order of the tables that are in both plans. */
    private void order(String query, List<ShapeStep> common, List<ShapeStep> after) {
        List<String> was = common.stream().map(ShapeStep::name).toList();
        Set<String> names = new HashSet<>(was);
        List<String> is =
                after.stream().map(ShapeStep::name).filter(names::contains).toList();
        if (was.size() == is.size() && !was.equals(is)) {
            changes.add(new PlanDifference(
                    PlanDifference.Kind.REORDERED, query, "join order", String.join(", ", was), String.join(", ", is)));
        }
    }

    private void effort(String query, String name, boolean before, boolean after) {
        if (before != after) {
            PlanDifference.Kind kind = before ? PlanDifference.Kind.REMOVED : PlanDifference.Kind.ADDED;
            changes.add(new PlanDifference(kind, query, name, before ? name : "", after ? name : ""));
        }
    }

    /** Pairs the queries: those with the same text are equal; the others are compared in their order. */
    private void queries(String query, String name, List<QueryShape> before, List<QueryShape> after) {
        List<QueryShape> left = new ArrayList<>(after);
        List<QueryShape> rest = new ArrayList<>();
        for (QueryShape shape : before) {
            if (!removeSame(left, shape)) {
                rest.add(shape);
            }
        }
        String place = query.isEmpty() ? name : query + " > " + name;
        for (int i = 0; i < Math.max(rest.size(), left.size()); i++) {
            if (i >= left.size()) {
                changes.add(new PlanDifference(
                        PlanDifference.Kind.REMOVED,
                        place,
                        tables(rest.get(i)),
                        rest.get(i).text(),
                        ""));
            } else if (i >= rest.size()) {
                changes.add(new PlanDifference(
                        PlanDifference.Kind.ADDED,
                        place,
                        tables(left.get(i)),
                        "",
                        left.get(i).text()));
            } else {
                compare(place, rest.get(i), left.get(i));
            }
        }
    }

    private static boolean removeSame(List<QueryShape> shapes, QueryShape wanted) {
        for (int i = 0; i < shapes.size(); i++) {
            if (shapes.get(i).text().equals(wanted.text())) {
                shapes.remove(i);
                return true;
            }
        }
        return false;
    }

    private static String tables(QueryShape shape) {
        return shape.steps().stream().map(ShapeStep::name).collect(Collectors.joining(", ", "query of ", ""));
    }
}
