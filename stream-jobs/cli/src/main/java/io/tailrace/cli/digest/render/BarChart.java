package io.tailrace.cli.digest.render;

import java.util.Arrays;

/** Draws bars and lines with block characters. */
public final class BarChart {

    private static final String EIGHTHS = " ▏▎▍▌▋▊▉";
    private static final String LEVELS = "▁▂▃▄▅▆▇█";

    private BarChart() {}

    /** Returns a bar for a fraction (0 to 1) of this number of columns; any value above 0 is visible. */
    public static String horizontal(double part, int columns) {
        int eighths = (int) Math.round(Math.min(1, part) * columns * 8);
        eighths = part > 0 ? Math.max(1, eighths) : 0;
        String rest = eighths % 8 == 0 ? "" : EIGHTHS.substring(eighths % 8, eighths % 8 + 1);
        return "█".repeat(eighths / 8) + rest;
    }

    /** Returns a bar with a logarithmic length, so that rare values are visible. */
    public static String logarithmic(double value, double max, int columns) {
        return value <= 0 ? "" : horizontal(Math.log1p(value) / Math.log1p(max), columns);
    }

    /** Returns one character per value, higher for larger ones, blank for 0. */
    public static String line(double[] values) {
        double max = Arrays.stream(values).max().orElse(0);
        StringBuilder line = new StringBuilder();
        for (double value : values) {
            int level = (int) Math.min(LEVELS.length() - 1, Math.floor(value / max * LEVELS.length()));
            line.append(value <= 0 || max <= 0 ? ' ' : LEVELS.charAt(Math.max(0, level)));
        }
        return line.toString();
    }
}
