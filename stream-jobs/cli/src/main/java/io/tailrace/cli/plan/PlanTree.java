package io.tailrace.cli.plan;

import io.tailrace.cli.digest.render.AnsiStyle;
import io.tailrace.cli.terminal.TerminalSanitizer;
import io.tailrace.plan.AccessType;
import io.tailrace.plan.Condition;
import io.tailrace.plan.Operation;
import io.tailrace.plan.Plan;
import io.tailrace.plan.PlanFlag;
import io.tailrace.plan.PlanNode;
import io.tailrace.plan.TableAccess;
import io.tailrace.plan.advice.Warning;
import io.tailrace.plan.advice.Warnings;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Formats a plan as a tree with its numbers in columns; warnings are coloured and described. */
final class PlanTree {

    /** Flags that a warning already reports. */
    private static final Set<PlanFlag> REPORTED_BY_WARNINGS = Set.of(
            PlanFlag.FILESORT,
            PlanFlag.SORT_ON_DISK,
            PlanFlag.TEMPORARY_TABLE,
            PlanFlag.JOIN_BUFFER,
            PlanFlag.DEPENDENT,
            PlanFlag.MATERIALIZED);

    /** Minimum width of a text, at any depth. */
    private static final int MIN_TEXT = 24;

    private final AnsiStyle ink;
    private final int width;
    private final List<TreeRow> rows = new ArrayList<>();

    PlanTree(AnsiStyle ink, int width) {
        this.ink = ink;
        this.width = width;
    }

    /** Returns the tree as lines, with a line of headings. */
    List<String> lines(Plan plan) {
        rows.clear();
        add(plan.root(), "", "", "");
        return new NumericColumns(ink, width, plan.isMeasured()).lines(rows);
    }

    /** The outermost query block, or a join of one table, which carries no information. */
    private static boolean isBare(PlanNode node, String role) {
        boolean outermost = node.operation() == Operation.QUERY_BLOCK && node.selectId() <= 1 && role.isEmpty();
        return (outermost || node.operation() == Operation.JOIN)
                && node.inputs().size() == 1
                && node.subqueries().isEmpty()
                && node.conditions().isEmpty()
                && node.detail().isEmpty();
    }

    /**
     * @param first prefix of the node's own line
     * @param rest prefix of all other lines below it
     * @param role role in the node above it
     */
    private void add(PlanNode node, String first, String rest, String role) {
        if (isBare(node, role)) {
            add(node.inputs().get(0), first, rest, role);
            return;
        }
        List<PlanNode> below = new ArrayList<>(node.inputs());
        below.addAll(node.subqueries());
        List<Warning> warnings = Warnings.of(node).stream()
                .filter(warning -> !isLabel(node, warning))
                .toList();
        rows.add(new TreeRow(ink.faint(first) + (role.isEmpty() ? "" : ink.faint(role + ": ")) + label(node), node));
        String inner = rest + (below.isEmpty() ? "  " : "│ ");
        for (String detail : details(node, warnings, width - inner.length())) {
            rows.add(new TreeRow(ink.faint(inner) + detail, null));
        }
        for (int i = 0; i < below.size(); i++) {
            boolean last = i == below.size() - 1;
            PlanNode child = below.get(i);
            String place = i < node.inputs().size() ? "" : subquery(child);
            add(child, rest + (last ? "└─ " : "├─ "), rest + (last ? "   " : "│  "), place);
        }
    }

    /** The line of the node already contains the warning. */
    private static boolean isLabel(PlanNode node, Warning warning) {
        return switch (node.operation()) {
            case SORT -> warning.kind() == Warning.Kind.FILESORT;
            case TEMPORARY_TABLE, MATERIALIZE -> warning.kind() == Warning.Kind.TEMPORARY_TABLE;
            default -> false;
        };
    }

    private static String subquery(PlanNode node) {
        String number = node.selectId() > 0 ? " #" + node.selectId() : "";
        String place = node.location().isEmpty() ? "" : " in " + TerminalSanitizer.text(node.location());
        return "subquery" + number + place;
    }

    private String label(PlanNode node) {
        if (node.isTable() && node.operation() != Operation.INSERT && node.operation() != Operation.REPLACE) {
            return table(node);
        }
        String words =
                switch (node.operation()) {
                    case JOIN -> join(node);
                    case QUERY_BLOCK -> node.selectId() > 0 ? "select #" + node.selectId() : "select";
                    case SORT -> node.has(PlanFlag.FILESORT) ? ink.alarm("filesort") : "in index order";
                    case TEMPORARY_TABLE -> ink.alarm(node.operation().label());
                    default -> node.operation().label();
                };
        String name = node.isTable()
                ? ink.strong(" " + TerminalSanitizer.text(node.access().alias()))
                : "";
        return words
                + name
                + (node.detail().isEmpty() ? "" : ink.faint("  " + shortened(TerminalSanitizer.text(node.detail()))));
    }

    private String shortened(String text) {
        int limit = Math.max(MIN_TEXT, width / 2);
        return text.length() <= limit ? text : text.substring(0, limit - 1) + "…";
    }

    private static String join(PlanNode node) {
        if (node.join() == null) {
            return "nested loop join";
        }
        String type = node.join().type().isEmpty()
                ? "join"
                : TerminalSanitizer.text(node.join().type());
        String algorithm = TerminalSanitizer.text(node.join().algorithm()).replace('_', ' ');
        return algorithm.isEmpty() ? type : algorithm + " " + type;
    }

    private String table(PlanNode node) {
        TableAccess access = node.access();
        String name = ink.strong(TerminalSanitizer.text(access.alias()));
        String real = access.table().equals(access.alias())
                ? ""
                : ink.faint(" (" + TerminalSanitizer.text(access.table()) + ")");
        return name + real + "  " + type(node) + index(access);
    }

    private String type(PlanNode node) {
        TableAccess access = node.access();
        String name = TerminalSanitizer.text(
                access.type() == AccessType.UNKNOWN
                        ? access.serverType()
                        : access.type().label());
        if (Warnings.isLargeScan(node)) {
            return ink.danger(name);
        }
        return access.type().isFullScan() ? ink.alarm(name) : ink.good(name);
    }

    private static String index(TableAccess access) {
        if (access.index().isEmpty()) {
            return "";
        }
        String parts = access.keyParts().isEmpty() ? "" : " (" + String.join(", ", access.keyParts()) + ")";
        return TerminalSanitizer.text(" using " + access.index() + parts);
    }

    private List<String> details(PlanNode node, List<Warning> warnings, int room) {
        List<String> lines = new ArrayList<>();
        if (!warnings.isEmpty()) {
            lines.add(warnings.stream().map(this::coloured).collect(Collectors.joining(ink.faint(" · "))));
        }
        String facts = facts(node);
        if (!facts.isEmpty()) {
            LineWrapper.lines(facts, Math.max(MIN_TEXT, room)).forEach(line -> lines.add(ink.faint(line)));
        }
        for (Condition condition : node.conditions()) {
            String words = (condition.kind().equals("attached") ? "where " : condition.kind() + " ") + condition.text();
            LineWrapper.lines(TerminalSanitizer.text(words), Math.max(MIN_TEXT, room))
                    .forEach(line -> lines.add(ink.faint(line)));
        }
        return lines;
    }

    private String coloured(Warning warning) {
        return switch (warning.kind()) {
            case FULL_SCAN, DEPENDENT_SUBQUERY, ESTIMATE_OFF, SORT_ON_DISK -> ink.danger(warning.text());
            default -> ink.alarm(warning.text());
        };
    }

    /** Returns further properties that are neither a number nor a warning. */
    private static String facts(PlanNode node) {
        List<String> facts = new ArrayList<>();
        node.flags().stream()
                .filter(flag -> !REPORTED_BY_WARNINGS.contains(flag))
                .forEach(flag -> facts.add(flag.label()));
        if (node.isTable()) {
            TableAccess access = node.access();
            if (!access.ref().isEmpty()) {
                facts.add("ref " + String.join(", ", access.ref()));
            }
            if (!access.partitions().isEmpty()) {
                facts.add("partitions " + String.join(", ", access.partitions()));
            }
            if (node.operation() == Operation.TABLE && !node.detail().isEmpty()) {
                facts.add(node.detail());
            }
            if (node.join() != null && !node.join().buffer().isEmpty()) {
                facts.add("buffer " + node.join().buffer());
            }
        }
        return TerminalSanitizer.text(String.join(" · ", facts));
    }
}
