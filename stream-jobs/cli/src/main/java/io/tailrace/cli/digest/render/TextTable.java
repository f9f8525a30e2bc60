package io.tailrace.cli.digest.render;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Formats rows in columns of the required width; the first row is the heading. */
public final class TextTable {

    private static final String BETWEEN = "  ";

    private final List<List<String>> rows = new ArrayList<>();
    private final List<Boolean> left;
    private final List<UnaryOperator<String>> inks;

    /** @param alignment one letter per column: l or r */
    public TextTable(String alignment) {
        left = new ArrayList<>();
        inks = new ArrayList<>();
        for (int i = 0; i < alignment.length(); i++) {
            left.add(alignment.charAt(i) == 'l');
            inks.add(text -> text);
        }
    }

    /** Sets the colour of a column's cells. */
    public void ink(int column, UnaryOperator<String> ink) {
        inks.set(column, ink);
    }

    public void row(String... cells) {
        rows.add(new ArrayList<>(List.of(cells)));
    }

    /** Returns the number of rows, heading included. */
    public int size() {
        return rows.size();
    }

    /** Removes a column. */
    public void drop(int column) {
        left.remove(column);
        inks.remove(column);
        rows.forEach(row -> row.remove(column));
    }

    /** Truncates the cells of a column. */
    public void cut(int column, int limit) {
        rows.forEach(row -> row.set(column, TerminalLines.cut(row.get(column), limit)));
    }

    int width(int column) {
        return rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
    }

    /** Returns the number of characters before this column, blanks included. */
    public int before(int column) {
        int width = 0;
        for (int i = 0; i < column; i++) {
            width += width(i) + BETWEEN.length();
        }
        return width;
    }

    public void write(String indent, UnaryOperator<String> heading, StringBuilder out) {
        for (int i = 0; i < rows.size(); i++) {
            String line = line(rows.get(i), i == 0).stripTrailing();
            out.append(indent).append(i == 0 ? heading.apply(line) : line).append('\n');
        }
    }

    private String line(List<String> row, boolean heading) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < row.size(); column++) {
            String padding = " ".repeat(width(column) - row.get(column).length());
            String cell = heading ? row.get(column) : inks.get(column).apply(row.get(column));
            boolean last = column == row.size() - 1;
            line.append(left.get(column) ? cell + (last ? "" : padding) : padding + cell)
                    .append(last ? "" : BETWEEN);
        }
        return line.toString();
    }
}
