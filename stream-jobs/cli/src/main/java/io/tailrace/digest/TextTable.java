package io.tailrace.digest;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Rows in columns as wide as they need; the first row is the heading. */
final class TextTable {

    private static final String BETWEEN = "  ";

    private final List<String[]> rows = new ArrayList<>();
    private final boolean[] left;
    private final List<UnaryOperator<String>> inks;

    /** {@code alignment} has a letter for each column: l or r. */
    TextTable(String alignment) {
        left = new boolean[alignment.length()];
        inks = new ArrayList<>();
        for (int i = 0; i < left.length; i++) {
            left[i] = alignment.charAt(i) == 'l';
            inks.add(text -> text);
        }
    }

    /** Colours a column's cells. */
    void ink(int column, UnaryOperator<String> ink) {
        inks.set(column, ink);
    }

    void row(String... cells) {
        rows.add(cells);
    }

    /** Cuts the cells of a column. */
    void cut(int column, int most) {
        rows.forEach(row -> row[column] = Lines.cut(row[column], most));
    }

    int width(int column) {
        return rows.stream().mapToInt(row -> row[column].length()).max().orElse(0);
    }

    /** Columns that stand before this one, blanks between included. */
    int before(int column) {
        int width = 0;
        for (int i = 0; i < column; i++) {
            width += width(i) + BETWEEN.length();
        }
        return width;
    }

    void write(String indent, UnaryOperator<String> heading, StringBuilder out) {
        for (int i = 0; i < rows.size(); i++) {
            String line = line(rows.get(i), i == 0).stripTrailing();
            out.append(indent).append(i == 0 ? heading.apply(line) : line).append('\n');
        }
    }

    private String line(String[] row, boolean heading) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < row.length; column++) {
            String padding = " ".repeat(width(column) - row[column].length());
            String cell = heading ? row[column] : inks.get(column).apply(row[column]);
            boolean last = column == row.length - 1;
            line.append(left[column] ? cell + (last ? "" : padding) : padding + cell)
                    .append(last ? "" : BETWEEN);
        }
        return line.toString();
    }
}
