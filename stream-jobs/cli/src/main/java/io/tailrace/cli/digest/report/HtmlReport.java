package io.tailrace.cli.digest.report;

import io.tailrace.cli.digest.aggregate.Digest;
import io.tailrace.cli.digest.aggregate.DurationBucket;
import io.tailrace.cli.digest.aggregate.ExampleStatement;
import io.tailrace.cli.digest.aggregate.LatencyHistogram;
import io.tailrace.cli.digest.aggregate.NameCounts;
import io.tailrace.cli.digest.aggregate.ObservedTimeRange;
import io.tailrace.cli.digest.aggregate.StatementGroup;
import io.tailrace.cli.digest.render.HtmlBuilder;
import io.tailrace.cli.digest.render.NumberFormatter;
import io.tailrace.cli.digest.render.TerminalLines;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;
import java.util.stream.Collectors;

/**
 * Writes the digest as one self-contained HTML file: it includes style, script and charts, and forbids network access.
 */
public final class HtmlReport {

    private static final int LAYERS = 5;
    private static final int COLUMNS = 120;
    private static final int SMALL_COLUMNS = 60;
    private static final int OPEN = 3;
    private static final int MAX_NAMES = 12;
    private static final int MAX_LABEL_LENGTH = 200;

    private final Report report;
    private final Digest digest;
    private final ObservedTimeRange range;
    private final ExampleStatement examples = new ExampleStatement();
    private final HtmlBuilder out = new HtmlBuilder();
    private final SvgChart charts;

    public HtmlReport(Report report) {
        this.report = report;
        this.digest = report.digest();
        this.range = digest.range();
        this.charts = new SvgChart(report, range, out);
    }

    public String write() {
        out.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
                .raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
                .raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';")
                .raw(" style-src 'unsafe-inline'; script-src 'unsafe-inline'\">")
                .element("title", "Digest of " + files())
                .raw("<style>\n" + resource("report.css") + "</style></head>\n<body><main>\n");
        if (digest.entries() == 0) {
            out.element("h1", "No statements");
            facts();
        } else {
            body();
        }
        return out.raw("<footer>")
                .text("Created by tailrace digest. Statements are "
                        + (report.literals()
                                ? "shown as they were logged."
                                : "masked: this file contains no value of a literal."))
                .raw("</footer></main></body></html>\n")
                .toString();
    }

    private void body() {
        List<StatementGroup> heaviest = report.heaviest();
        head();
        tiles();
        facts();
        overview(heaviest);
        profile(heaviest);
        out.element("h2", "Details");
        for (int i = 0; i < heaviest.size(); i++) {
            card(i + 1, heaviest.get(i));
        }
        out.raw("<script>\n" + resource("report.js") + "</script>");
    }

    private void head() {
        out.element("h1", digest.isTimed() ? "Where the time went" : "What was executed");
        out.element("p class=\"sub\"", files() + " · " + ReportNotes.period(report, range));
    }

    private String files() {
        List<String> files = report.inputs().files();
        if (digest.isOfCounters()) {
            return String.join(", ", files);
        }
        String text = files.stream().limit(3).map(HtmlReport::fileName).collect(Collectors.joining(", "));
        return files.size() <= 3 ? text : text + " and " + (files.size() - 3) + " more";
    }

    private static String fileName(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private void tiles() {
        StatementGroup all = digest.whole();
        out.raw("<div class=\"tiles\">");
        tile(NumberFormatter.whole(all.count()), "statements");
        tile(NumberFormatter.whole(digest.groupCount()), digest.grouping().nouns());
        if (digest.isTimed()) {
            tile(NumberFormatter.seconds(all.queryTime.sum()), "query time");
            tile(Rates.load(all.queryTime.sum(), range.length()), "mean load");
            tile(NumberFormatter.seconds(all.queryTime.quantile(0.95)), "p95 of query time");
        } else {
            tile(Rates.of(all.count() - range.outliers(), range.length()), "mean rate");
        }
        tile(NumberFormatter.whole(all.errors), "errors");
        out.raw("</div>\n");
    }

    private void tile(String number, String what) {
        out.raw("<div class=\"tile\">")
                .element("b", number)
                .element("span", what)
                .raw("</div>");
    }

    private void facts() {
        out.raw("<div class=\"card\"><dl>");
        Report.Inputs inputs = report.inputs();
        String files = String.join(", ", inputs.files());
        if (digest.isOfCounters()) {
            fact("counters", files);
            fact("counted", ReportNotes.counted(report));
            fact("quantiles", ReportNotes.percentiles(digest));
        } else {
            fact("logs", files + ", " + NumberFormatter.bytes(inputs.bytes()));
        }
        fact("servers", String.join(", ", inputs.servers()));
        StatementGroup all = digest.whole();
        if (digest.isTimed() && digest.entries() > 0 && !digest.isOfCounters()) {
            fact("threshold", ReportNotes.threshold(digest.facts()));
        }
        if (digest.facts().isSampled()) {
            fact("sampling", ReportNotes.sampling(digest));
        }
        fact("filter", inputs.filter());
        fact("left out", inputs.leftOut() == 0 ? "" : ReportNotes.leftOut(inputs.leftOut()));
        warning("dead letters", inputs.deadLetters() == 0 ? "" : ReportNotes.deadLetters(inputs.deadLetters()));
        warning("stray times", range.outliers() == 0 ? "" : ReportNotes.outliers(report, range));
        long otherZone = digest.facts().otherZone();
        warning("zone", otherZone == 0 ? "" : ReportNotes.otherZone(otherZone));
        warning(
                "further " + digest.grouping().nouns(),
                digest.furtherOnes() == 0 ? "" : ReportNotes.furtherOnes(digest));
        who(all);
        out.raw("</dl></div>\n");
    }

    private void who(StatementGroup group) {
        names("tables", group.tables.counts(), group.count());
        names("databases", group.databases, group.count());
        names("users", group.users, group.count());
        names("hosts", group.hosts, group.count());
        names("plan", group.planFlags, group.count());
        if (group.errors > 0) {
            warning("errors", ReportNotes.errors(group, MAX_NAMES));
        }
    }

    private void fact(String name, String text) {
        if (!text.isEmpty()) {
            out.element("dt", name).element("dd", text);
        }
    }

    private void warning(String name, String text) {
        if (!text.isEmpty()) {
            out.element("dt", name).element("dd class=\"warn\"", text);
        }
    }

    private void names(String what, NameCounts names, double total) {
        List<NameCounts.Count> counts = names.heaviest();
        if (counts.isEmpty() || counts.size() == 1 && counts.get(0).name().isEmpty()) {
            return;
        }
        out.element("dt", what).raw("<dd>");
        for (int i = 0; i < Math.min(MAX_NAMES, counts.size()); i++) {
            NameCounts.Count count = counts.get(i);
            out.text((i == 0 ? "" : ", ") + (count.name().isEmpty() ? "(none)" : count.name()) + " ")
                    .element("i", counts.size() == 1 ? "" : NumberFormatter.share(count.weight(), total));
        }
        out.text(counts.size() > MAX_NAMES ? " and " + (counts.size() - MAX_NAMES) + " more" : "")
                .raw("</dd>");
    }

    private void overview(List<StatementGroup> heaviest) {
        if (range.length() < 2 || digest.isOfCounters()) {
            return;
        }
        int columns = (int) Math.min(range.length(), COLUMNS);
        out.element("h2", digest.isTimed() ? "Load: concurrent statements" : "Statements per second")
                .raw("<div class=\"card\">");
        List<SvgChart.Layer> layers = layers(heaviest, columns);
        charts.overTime(layers, 1120, 230, HtmlReport::axis);
        out.raw("<div class=\"legend\">");
        for (SvgChart.Layer layer : layers) {
            out.raw("<span><i style=\"background:var(--c" + layer.colour() + ")\"></i>")
                    .element("code", layer.name())
                    .raw("</span>");
        }
        out.raw("</div></div>\n");
    }

    private List<SvgChart.Layer> layers(List<StatementGroup> heaviest, int columns) {
        double[] rest = perSecond(digest.whole(), columns);
        List<SvgChart.Layer> layers = new ArrayList<>();
        int limit = digest.grouping().overlaps() ? 0 : Math.min(LAYERS, heaviest.size());
        for (int i = 0; i < limit; i++) {
            double[] values = perSecond(heaviest.get(i), columns);
            for (int column = 0; column < columns; column++) {
                rest[column] = Math.max(0, rest[column] - values[column]);
            }
            layers.add(new SvgChart.Layer("#" + (i + 1) + " " + label(heaviest.get(i)), i, values));
        }
        if (layers.size() < digest.groupCount()) {
            layers.add(new SvgChart.Layer(layers.isEmpty() ? "all" : "all others", LAYERS, rest));
        }
        return layers;
    }

    private double[] perSecond(StatementGroup group, int columns) {
        double[] values = digest.isTimed()
                ? group.slots.times(range.from(), range.to(), columns)
                : group.slots.weights(range.from(), range.to(), columns);
        double seconds = range.length() / (double) columns;
        for (int i = 0; i < columns; i++) {
            values[i] /= seconds;
        }
        return values;
    }

    private static String axis(double value) {
        return value == 0
                ? "0"
                : value < 0.01 ? String.format(Locale.ROOT, "%.1g", value) : NumberFormatter.number(value);
    }

    private void profile(List<StatementGroup> heaviest) {
        out.element("h2", "Profile by " + report.ranking().title())
                .raw("<div class=\"card\"><input type=\"search\" id=\"search\" placeholder=\"Find in statements\"")
                .raw(" aria-label=\"Find in statements\"><div class=\"scroll\"><table id=\"profile\"><colgroup>");
        int[] widths = digest.isTimed()
                ? new int[] {30, 140, 72, 68, 68, 68, 68, 68, 68, 80, 0}
                : new int[] {30, 140, 90, 90, 0};
        for (int width : widths) {
            out.raw(width == 0 ? "<col>" : "<col style=\"width:" + width + "px\">");
        }
        out.raw("</colgroup><thead><tr>");
        String noun =
                digest.grouping().isByQuery() ? "statement" : digest.grouping().noun();
        String heads = digest.isTimed() ? "#,share,total,count,avg,p50,p95,p99,max,exam/sent" : "#,share,count,errors";
        for (String head : heads.split(",")) {
            out.element("th", head);
        }
        out.element("th class=\"text\"", noun).raw("</tr></thead><tbody>\n");
        for (int i = 0; i < heaviest.size(); i++) {
            row(i + 1, heaviest.get(i));
        }
        out.raw("</tbody></table></div>");
        int others = digest.groupCount() - heaviest.size();
        if (others > 0) {
            out.element(
                    "p class=\"sub more\"", NumberFormatter.whole(others) + " more are not shown; --limit shows more.");
        }
        out.raw("</div>\n");
    }

    private void row(int rank, StatementGroup group) {
        double share = report.share(group);
        out.raw("<tr data-search=\"").text(group.name).raw("\">");
        cell(rank, Integer.toString(rank));
        out.raw(String.format(Locale.ROOT, "<td data-value=\"%f\">", share))
                .text(NumberFormatter.share(share, 1))
                .raw(String.format(
                        Locale.ROOT,
                        "<span class=\"share\"><i style=\"width:%.1f%%\"></i></span></td>",
                        Math.min(100, 100 * share)));
        if (digest.isTimed()) {
            LatencyHistogram time = group.queryTime;
            cell(time.sum(), NumberFormatter.seconds(time.sum()));
            cell(group.count(), NumberFormatter.count(group.count()));
            cell(time.average(), NumberFormatter.seconds(time.average()));
            for (double part : new double[] {0.5, 0.95, 0.99}) {
                cell(time.quantile(part), NumberFormatter.seconds(time.quantile(part)));
            }
            cell(time.largest(), NumberFormatter.seconds(time.largest()));
            double ratio = group.examinedPerSent();
            cell(Math.min(ratio, Double.MAX_VALUE), ratio == 0 ? "" : NumberFormatter.count(ratio));
        } else {
            cell(group.count(), NumberFormatter.count(group.count()));
            cell(group.errors, NumberFormatter.count(group.errors));
        }
        out.raw("<td class=\"text\"><a href=\"#g" + rank + "\"><code>")
                .text(label(group))
                .raw("</code></a></td></tr>\n");
    }

    private void cell(double value, String text) {
        out.raw("<td data-value=\"" + (Double.isNaN(value) ? -1 : value) + "\">")
                .text(text)
                .raw("</td>");
    }

    private static String label(StatementGroup group) {
        return group.name.isEmpty() ? "(none)" : TerminalLines.cut(TerminalLines.one(group.name), MAX_LABEL_LENGTH);
    }

    private void card(int rank, StatementGroup group) {
        out.raw("<details class=\"card\" id=\"g" + rank + "\"" + (rank <= OPEN ? " open" : "") + " data-search=\"")
                .text(group.name)
                .raw("\"><summary><span class=\"rank\">#" + rank + "</span>");
        if (group.queryId != 0) {
            out.element("code class=\"id\"", Report.id(group));
        }
        out.element("code class=\"line\"", label(group)).raw("<span class=\"sum\">");
        if (digest.isTimed()) {
            out.element(
                            "b",
                            NumberFormatter.share(
                                    group.queryTime.sum(),
                                    digest.whole().queryTime.sum()))
                    .text(" of time · ");
        }
        out.text(ReportNotes.statements(group.count()));
        out.raw("</span></summary>");
        statement(group);
        out.raw("<dl>");
        who(group);
        if (digest.isOfCounters() && digest.grouping().isByQuery()) {
            fact("digest", group.digest);
        }
        fact("seen", report.span(group.first(), group.last()) + rate(group));
        out.raw("</dl>");
        cardCharts(group);
        if (digest.isTimed()) {
            measures(group);
        }
        out.raw("</details>\n");
    }

    private String rate(StatementGroup group) {
        return range.length() < 2 || group.first().equals(group.last())
                ? ""
                : ", " + Rates.of(group.count(), range.length());
    }

    private void statement(StatementGroup group) {
        if (digest.grouping().isByQuery()) {
            out.raw("<pre>").text(report.example(group, examples)).raw("</pre>");
            return;
        }
        double total = group.classes.total();
        out.raw("<dl>");
        group.classes.heaviest().stream().limit(MAX_NAMES).forEach(count -> out.element(
                        "dt", NumberFormatter.share(count.weight(), total))
                .raw("<dd>")
                .element("code", TerminalLines.cut(TerminalLines.one(count.name()), MAX_LABEL_LENGTH))
                .raw("</dd>"));
        out.raw("</dl><br>");
    }

    private void cardCharts(StatementGroup group) {
        List<DurationBucket> steps = DurationBucket.of(group.queryTime);
        boolean durations = digest.isTimed() && steps.size() > 1;
        boolean times = range.length() >= 2 && !digest.isOfCounters();
        if (!durations && !times) {
            return;
        }
        out.raw("<div class=\"charts\">");
        if (durations) {
            out.raw("<div>").element("h3", "Query time distribution (logarithmic heights)");
            charts.durations(steps, group.count(), 520, 150);
            out.raw("</div>");
        }
        if (times) {
            int columns = (int) Math.min(range.length(), SMALL_COLUMNS);
            double[] values = group.slots.weights(range.from(), range.to(), columns);
            String per = NumberFormatter.seconds(range.length() / (double) columns);
            out.raw("<div>").element("h3", "Statements per " + per);
            charts.overTime(List.of(new SvgChart.Layer("statements", 0, values)), 520, 150, HtmlReport::axis);
            out.raw("</div>");
        }
        out.raw("</div>");
    }

    private void measures(StatementGroup group) {
        out.raw("<div class=\"numbers scroll\"><table><thead><tr><th></th>");
        for (String head : "total,min,avg,p50,p95,p99,max".split(",")) {
            out.element("th", head);
        }
        out.raw("</tr></thead><tbody>");
        measure("query time", group.queryTime, NumberFormatter::seconds);
        measure("lock time", group.lockTime, NumberFormatter::seconds);
        measure("rows examined", group.rowsExamined, NumberFormatter::count);
        measure("rows sent", group.rowsSent, NumberFormatter::count);
        measure("rows affected", group.rowsAffected, NumberFormatter::count);
        measure("bytes sent", group.bytesSent, NumberFormatter::bytes);
        out.raw("</tbody></table></div>");
    }

    private void measure(String name, LatencyHistogram values, DoubleFunction<String> format) {
        if (values == null || values.sum() == 0) {
            return;
        }
        out.raw("<tr>").element("td class=\"text\"", name);
        for (double value : new double[] {
            values.sum(),
            values.smallest(),
            values.average(),
            values.quantile(0.5),
            values.quantile(0.95),
            values.quantile(0.99),
            values.largest()
        }) {
            out.element("td", format.apply(value));
        }
        out.raw("</tr>");
    }

    private static String resource(String name) {
        try (InputStream in = HtmlReport.class.getResourceAsStream(name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
