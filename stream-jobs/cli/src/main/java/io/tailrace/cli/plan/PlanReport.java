package io.tailrace.cli.plan;

import io.tailrace.cli.digest.render.AnsiStyle;
import io.tailrace.cli.terminal.TerminalSanitizer;
import io.tailrace.plan.Plan;
import io.tailrace.plan.PlanNode;
import io.tailrace.plan.advice.Advice;
import io.tailrace.plan.advice.Advisor;
import io.tailrace.plan.json.Repair;
import io.tailrace.plan.shape.PlanDifference;
import io.tailrace.plan.shape.PlanHash;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Formats plans for a terminal: a tree with advice, or the changes between two plans. */
public final class PlanReport {

    private final AnsiStyle ink;
    private final int width;

    /** @param width characters per line */
    public PlanReport(AnsiStyle ink, int width) {
        this.ink = ink;
        this.width = width;
    }

    /** Returns a plan with its advice. */
    public String show(Plan plan, String source) {
        List<String> lines = new ArrayList<>();
        lines.add(heading(plan, source));
        repairs(plan, lines);
        lines.add("");
        lines.addAll(new PlanTree(ink, width).lines(plan));
        advice(Advisor.of(plan), lines);
        return String.join("\n", lines) + "\n";
    }

    private String heading(Plan plan, String source) {
        List<String> facts = new ArrayList<>();
        facts.add(plan.format().label() + " plan " + PlanHash.of(plan));
        double cost = cost(plan.root());
        if (!Double.isNaN(cost)) {
            facts.add("cost " + PlanNumberFormatter.count(cost));
        }
        double millis = plan.root().measurements().totalMillis();
        if (!Double.isNaN(millis)) {
            facts.add(PlanNumberFormatter.time(millis));
        }
        return ink.heading(TerminalSanitizer.text(source)) + "  " + String.join(ink.faint(" · "), facts);
    }

    /** Returns the cost of the plan. In version 2, some steps have no cost; then that of the preceding step counts. */
    private static double cost(PlanNode node) {
        PlanNode step = node;
        while (Double.isNaN(step.estimates().cost()) && step.inputs().size() == 1) {
            step = step.inputs().get(0);
        }
        return step.estimates().cost();
    }

    private void repairs(Plan plan, List<String> lines) {
        if (plan.repairs().isEmpty()) {
            return;
        }
        String counts = plan.repairs().counts().entrySet().stream()
                .map(entry -> entry.getValue() + " " + entry.getKey())
                .collect(Collectors.joining(", "));
        Repair first = plan.repairs().places().get(0);
        lines.add(ink.faint(TerminalSanitizer.text(
                "not JSON, repaired: " + counts + "; first at byte " + first.offset() + ", " + first.path())));
    }

    private void advice(List<Advice> advice, List<String> lines) {
        if (advice.isEmpty()) {
            return;
        }
        lines.add("");
        lines.add(ink.heading("advice"));
        for (Advice one : advice) {
            String table = one.table().isEmpty() ? "" : TerminalSanitizer.text(one.table()) + ": ";
            List<String> text = LineWrapper.lines(table + TerminalSanitizer.text(one.text()), width - 2);
            for (int i = 0; i < text.size(); i++) {
                lines.add((i == 0 ? ink.alarm("• ") : "  ") + text.get(i));
            }
            LineWrapper.lines(TerminalSanitizer.text(one.evidence()), width - 4).stream()
                    .filter(line -> !line.isEmpty())
                    .forEach(line -> lines.add("    " + ink.faint(line)));
        }
    }

    /** Returns the changes from one plan to another. */
    public String compare(
            Plan before, String beforeSource, Plan after, String afterSource, List<PlanDifference> changes) {
        List<String> lines = new ArrayList<>();
        lines.add(ink.danger("--- ") + heading(before, beforeSource));
        lines.add(ink.good("+++ ") + heading(after, afterSource));
        lines.add("");
        if (changes.isEmpty()) {
            lines.add("no difference");
        }
        String query = "";
        for (PlanDifference change : changes) {
            if (!change.query().equals(query)) {
                query = change.query();
                lines.add(ink.faint(query.isEmpty() ? "outermost query" : "in " + TerminalSanitizer.text(query)));
            }
            lines.add(line(change));
        }
        return String.join("\n", lines) + "\n";
    }

    private String line(PlanDifference change) {
        String subject = TerminalSanitizer.text(change.subject());
        String before = TerminalSanitizer.text(change.before());
        String after = TerminalSanitizer.text(change.after());
        return switch (change.kind()) {
            case ADDED -> ink.good("+ " + subject + suffix(subject, after));
            case REMOVED -> ink.danger("- " + subject + suffix(subject, before));
            case CHANGED, REORDERED -> ink.alarm("~ ") + ink.strong(subject) + "  " + ink.danger(before) + " → "
                    + ink.good(after);
        };
    }

    private static String suffix(String subject, String text) {
        return text.isEmpty() || text.equals(subject) ? "" : "  " + text;
    }
}
