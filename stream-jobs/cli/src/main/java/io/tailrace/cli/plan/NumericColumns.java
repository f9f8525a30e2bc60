package io.tailrace.cli.plan;

import io.tailrace.cli.digest.render.AnsiStyle;
import io.tailrace.plan.PlanNode;
import io.tailrace.plan.advice.Warnings;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Appends the numbers of nodes to their lines, right-aligned; a column without any number is omitted. */
final class NumericColumns {

    /** Characters between columns. */
    private static final int GAP = 2;
    /** Minimum width of the text of a line; the numbers move to the right of a longer one. */
    private static final int MIN_TEXT = 30;

    /**
     * One column.
     *
     * @param heading heading of the column
     * @param value number of a node; empty if it has none
     */
    private record Column(String heading, Function<PlanNode, String> value) {

        int width(List<TreeRow> rows) {
            int widest = rows.stream()
                    .filter(row -> row.node() != null)
                    .mapToInt(row -> value.apply(row.node()).length())
                    .max()
                    .orElse(0);
            return widest == 0 ? 0 : Math.max(widest, heading.length());
        }
    }

    private static final List<Column> EXPECTED = List.of(
            new Column("rows", node -> PlanNumberFormatter.count(expectedRows(node))),
            new Column(
                    "filtered",
                    node -> PlanNumberFormatter.percent(node.estimates().filteredPercent())),
            new Column(
                    "cost", node -> PlanNumberFormatter.count(node.estimates().cost())));
    private static final List<Column> MEASURED = List.of(
            new Column(
                    "actual",
                    node -> PlanNumberFormatter.count(node.measurements().rows())),
            new Column(
                    "filtered",
                    node -> PlanNumberFormatter.percent(node.measurements().filteredPercent())),
            new Column(
                    "loops",
                    node -> PlanNumberFormatter.count(node.measurements().loops())),
            new Column(
                    "time", node -> PlanNumberFormatter.time(node.measurements().totalMillis())));

    private final AnsiStyle ink;
    private final int width;
    private final List<Column> columns = new ArrayList<>(EXPECTED);

    NumericColumns(AnsiStyle ink, int width, boolean measured) {
        this.ink = ink;
        this.width = width;
        if (measured) {
            columns.addAll(MEASURED);
        }
    }

    private static double expectedRows(PlanNode node) {
        double examined = node.estimates().examinedRows();
        return Double.isNaN(examined) ? node.estimates().producedRows() : examined;
    }

    List<String> lines(List<TreeRow> rows) {
        int[] widths = columns.stream().mapToInt(column -> column.width(rows)).toArray();
        int numbersWidth = 0;
        for (int columnWidth : widths) {
            numbersWidth += columnWidth == 0 ? 0 : columnWidth + GAP;
        }
        int longest = rows.stream()
                .filter(row -> row.node() != null)
                .mapToInt(TreeRow::length)
                .max()
                .orElse(0);
        int text = Math.max(MIN_TEXT, Math.min(longest, width - numbersWidth));
        List<String> lines = new ArrayList<>();
        if (numbersWidth > 0) {
            lines.add(ink.faint(" ".repeat(text) + headings(widths)));
        }
        rows.forEach(row -> lines.add(line(row, text, widths)));
        return lines;
    }

    private String headings(int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            append(line, columns.get(i).heading(), widths[i]);
        }
        return line.toString();
    }

    private static void append(StringBuilder line, String text, int width) {
        if (width > 0) {
            line.append(" ".repeat(GAP + width - text.length())).append(text);
        }
    }

    private String line(TreeRow row, int text, int[] widths) {
        if (row.node() == null) {
            return row.text();
        }
        StringBuilder numbers = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            append(numbers, columns.get(i).value().apply(row.node()), widths[i]);
        }
        String shown = numbers.toString().stripTrailing();
        if (shown.isEmpty()) {
            return row.text();
        }
        boolean off = Warnings.estimateFactor(row.node()) > Warnings.MUCH_OFF;
        return row.text() + " ".repeat(Math.max(0, text - row.length())) + (off ? ink.danger(shown) : shown);
    }
}
