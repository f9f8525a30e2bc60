package io.tailrace.plan.record;

import io.tailrace.plan.Plan;
import io.tailrace.plan.PlanFlag;
import io.tailrace.plan.PlanNode;
import io.tailrace.plan.TableAccess;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Formats a plan as an outline: one line per step, indented by two more spaces for each step that provides its rows.
 */
public final class PlanOutline {

    private static final int MAX_DEPTH = 200;

    private PlanOutline() {}

    /**
     * Returns the lines, without line ends. Steps deeper than {@value #MAX_DEPTH} are indented like those at that
     * depth.
     */
    public static List<String> of(Plan plan) {
        List<String> lines = new ArrayList<>();
        add(plan.root(), 0, "", lines);
        return lines;
    }

    private static void add(PlanNode node, int depth, String role, List<String> lines) {
        lines.add("  ".repeat(Math.min(depth, MAX_DEPTH)) + role + label(node));
        node.inputs().forEach(input -> add(input, depth + 1, "", lines));
        node.subqueries().forEach(subquery -> add(subquery, depth + 1, "subquery: ", lines));
    }

    private static String label(PlanNode node) {
        StringBuilder label = new StringBuilder(64);
        if (node.isTable()) {
            TableAccess access = node.access();
            label.append(access.alias()).append(": ").append(access.type().label());
            if (!access.index().isEmpty()) {
                label.append(" by ").append(access.index());
            }
        } else {
            label.append(node.operation().label());
        }
        if (!Double.isNaN(node.estimates().examinedRows())) {
            label.append(
                    String.format(Locale.ROOT, ", %,.0f rows", node.estimates().examinedRows()));
        }
        node.flags().stream().filter(flag -> flag != PlanFlag.FILTERED).forEach(flag -> label.append(", ")
                .append(flag.name().toLowerCase(Locale.ROOT).replace('_', ' ')));
        return withoutControls(label);
    }

    /** Removes control characters, because users choose the names and could end a line. */
    private static String withoutControls(CharSequence text) {
        return text.codePoints()
                .map(c -> Character.isISOControl(c) ? '\ufffd' : c)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }
}
