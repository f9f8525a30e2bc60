package io.tailrace.cli.digest.report;

import io.tailrace.cli.digest.aggregate.DurationBucket;
import io.tailrace.cli.digest.aggregate.ObservedTimeRange;
import io.tailrace.cli.digest.render.HtmlBuilder;
import io.tailrace.cli.digest.render.NumberFormatter;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;

/** Draws charts as inline SVG with the colours of the page and the tooltips of the browser. */
final class SvgChart {

    private static final int LEFT = 46;
    private static final int BELOW = 20;
    private static final int TOP = 8;
    private static final double[] NICE = {1, 1.5, 2, 3, 4, 5, 6, 8, 10};

    /**
     * One layer of stacked columns.
     *
     * @param name name in the tooltips
     * @param colour number of the page's colour
     */
    record Layer(String name, int colour, double[] values) {}

    private final Report report;
    private final ObservedTimeRange range;
    private final HtmlBuilder out;

    SvgChart(Report report, ObservedTimeRange range, HtmlBuilder out) {
        this.report = report;
        this.range = range;
        this.out = out;
    }

    /** Draws stacked columns over the time range of the log. */
    void overTime(List<Layer> layers, int width, int height, DoubleFunction<String> format) {
        int columns = layers.get(0).values.length;
        double[] totals = new double[columns];
        layers.forEach(layer -> Arrays.setAll(totals, i -> totals[i] + layer.values[i]));
        double max = axisEnd(Arrays.stream(totals).max().orElse(0));
        open(width, height, "Over time");
        verticalAxis(width, height, max, format);
        double step = (width - LEFT) / (double) columns;
        double[] below = new double[columns];
        for (Layer layer : layers) {
            for (int i = 0; i < columns; i++) {
                double top = below[i] + layer.values[i];
                if (layer.values[i] > 0) {
                    double y = y(top, max, height);
                    String title = time(i, columns) + " " + layer.name + ": " + format.apply(layer.values[i]);
                    rectangle(
                            LEFT + i * step,
                            y,
                            step - (step > 4 ? 1 : 0.15),
                            y(below[i], max, height) - y,
                            layer.colour,
                            title);
                }
                below[i] = top;
            }
        }
        timeAxis(width, height);
        out.raw("</svg>");
    }

    /** Draws the distribution of durations; the heights of the columns are logarithmic. */
    void durations(List<DurationBucket> steps, double count, int width, int height) {
        double max = steps.stream().mapToDouble(DurationBucket::weight).max().orElse(0);
        open(width, height, "Durations");
        double step = width / (double) Math.max(6, steps.size());
        int bottom = height - BELOW;
        out.raw(String.format(
                Locale.ROOT, "<line class=\"grid\" x1=\"0\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>", width, bottom, bottom));
        for (int i = 0; i < steps.size(); i++) {
            DurationBucket duration = steps.get(i);
            String from = duration.from() == 0 ? "0" : NumberFormatter.seconds(duration.from());
            if (duration.weight() > 0) {
                double part = Math.log1p(duration.weight()) / Math.log1p(max);
                double tall = Math.max(2, part * (bottom - 22));
                String tooltip = NumberFormatter.count(duration.weight())
                        + (duration.weight() == 1 ? " statement, " : " statements, ")
                        + NumberFormatter.share(duration.weight(), count) + ", took " + from + " or more";
                rectangle(i * step + 2, bottom - tall, step - 4, tall, 0, tooltip);
                label(i * step + step / 2, bottom - tall - 5, "middle", NumberFormatter.count(duration.weight()));
            }
            if (steps.size() <= 9 || i % 2 == 0) {
                label(i * step + step / 2, bottom + 14, "middle", from);
            }
        }
        out.raw("</svg>");
    }

    private void open(int width, int height, String name) {
        out.raw(String.format(
                Locale.ROOT, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">", width, height, name));
    }

    private void verticalAxis(int width, int height, double max, DoubleFunction<String> format) {
        for (double part : new double[] {0, 0.5, 1}) {
            double y = y(part * max, max, height);
            out.raw(String.format(
                    Locale.ROOT,
                    "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>",
                    LEFT,
                    width,
                    y,
                    y));
            label(LEFT - 7, y + 4, "end", format.apply(part * max));
        }
    }

    private void timeAxis(int width, int height) {
        int ticks = width > 600 ? 6 : 2;
        DateTimeFormatter format = DateTimeFormatter.ofPattern(
                range.length() > 2 * 86_400 ? "MMM d" : range.length() > 600 ? "HH:mm" : "HH:mm:ss", Locale.ROOT);
        List<String> shown = new ArrayList<>();
        for (int i = 0; i <= ticks; i++) {
            Instant time = Instant.ofEpochSecond(range.from() + range.length() * i / ticks);
            String text = format.format(time.atZone(report.zone()));
            double x = LEFT + (width - LEFT) * i / (double) ticks;
            String anchor = i == 0 ? "start" : i == ticks ? "end" : "middle";
            if (!shown.contains(text)) {
                label(x, height - 5, anchor, text);
            }
            shown.add(text);
        }
    }

    private String time(int column, int columns) {
        return report.time(Instant.ofEpochSecond(range.from() + range.length() * column / columns));
    }

    private static double y(double value, double max, int height) {
        double tall = height - TOP - BELOW;
        return TOP + (max == 0 ? tall : tall * (1 - value / max));
    }

    private void rectangle(double x, double y, double width, double height, int colour, String title) {
        out.raw(String.format(
                        Locale.ROOT,
                        "<rect x=\"%.1f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"var(--c%d)\"><title>",
                        x,
                        y,
                        Math.max(0.5, width),
                        height,
                        colour))
                .text(title)
                .raw("</title></rect>");
    }

    private void label(double x, double y, String anchor, String text) {
        out.raw(String.format(Locale.ROOT, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor))
                .text(text)
                .raw("</text>");
    }

    /** Returns the next round number. */
    private static double axisEnd(double value) {
        if (value <= 0) {
            return 1;
        }
        double power = Math.pow(10, Math.floor(Math.log10(value)));
        for (double nice : NICE) {
            if (value <= nice * power) {
                return nice * power;
            }
        }
        return value;
    }
}
