package io.tailrace.cli.digest.report;

import io.tailrace.cli.digest.aggregate.Digest;
import io.tailrace.cli.digest.aggregate.DurationBucket;
import io.tailrace.cli.digest.aggregate.ExampleStatement;
import io.tailrace.cli.digest.aggregate.LatencyHistogram;
import io.tailrace.cli.digest.aggregate.NameCounts;
import io.tailrace.cli.digest.aggregate.ObservedTimeRange;
import io.tailrace.cli.digest.aggregate.StatementGroup;
import io.tailrace.cli.digest.render.AnsiStyle;
import io.tailrace.cli.digest.render.BarChart;
import io.tailrace.cli.digest.render.NumberFormatter;
import io.tailrace.cli.digest.render.TerminalLines;
import io.tailrace.cli.digest.render.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** Writes the digest as text for a terminal: the total, a profile of the heaviest groups, then each of them. */
public final class TextReport {

    private static final String INDENT = "  ";
    /** Below this width, the profile has fewer columns. */
    private static final int NARROW = 110;

    private static final int SHARE_BAR = 10;
    private static final int MIN_STATEMENT = 24;
    private static final int MAX_NAMES = 6;
    private static final int MAX_LINES = 12;
    private static final int LABEL = 11;
    private static final int MAX_BAR_LENGTH = 50;
    private static final int MAX_COLUMNS = 72;
    private static final int DIGEST_DIGITS = 16;

    private final Report report;
    private final Digest digest;
    private final AnsiStyle ink;
    private final int width;
    private final ExampleStatement examples = new ExampleStatement();
    private final ObservedTimeRange range;
    private final StringBuilder out = new StringBuilder();

    /** Creates a report with lines of this width, if possible. */
    public TextReport(Report report, AnsiStyle ink, int width) {
        this.report = report;
        this.digest = report.digest();
        this.ink = ink;
        this.width = width;
        this.range = digest.range();
    }

    public String write() {
        if (digest.entries() == 0) {
            nothing();
            return out.toString();
        }
        whole();
        List<StatementGroup> heaviest = report.heaviest();
        profile(heaviest);
        for (int rank = 0; rank < heaviest.size(); rank++) {
            detail(rank + 1, heaviest.get(rank));
        }
        return out.toString();
    }

    private void nothing() {
        title("No statements");
        leftOut();
    }

    private void whole() {
        StatementGroup all = digest.whole();
        title(ReportNotes.statements(all.count()) + ", " + NumberFormatter.whole(digest.groupCount()) + " "
                + (digest.groupCount() == 1
                        ? digest.grouping().noun()
                        : digest.grouping().nouns())
                + (digest.isTimed() ? ", " + NumberFormatter.seconds(all.queryTime.sum()) + " of query time" : ""));
        inputs();
        timeRange(all);
        if (digest.isOfCounters()) {
            sentence("counted", ReportNotes.counted(report));
            sentence("quantiles", ReportNotes.percentiles(digest));
        } else if (digest.isTimed()) {
            sentence("threshold", ReportNotes.threshold(digest.facts()));
        }
        if (digest.facts().isSampled()) {
            sentence("sampling", ReportNotes.sampling(digest));
        }
        leftOut();
        names("tables", all.tables.counts(), all.count());
        names("databases", all.databases, all.count());
        names("users", all.users, all.count());
        names("hosts", all.hosts, all.count());
        flags(all);
        errors(all);
        out.append('\n');
        if (digest.isTimed()) {
            measures(all);
            overTime("load", all, true);
        } else {
            overTime("when", all, false);
        }
    }

    private void inputs() {
        Report.Inputs inputs = report.inputs();
        if (digest.isOfCounters()) {
            sentence("counters", String.join(", ", inputs.files()));
        } else {
            sentence("logs", shortened(inputs.files()) + ", " + NumberFormatter.bytes(inputs.bytes()));
        }
        if (!inputs.servers().isEmpty()) {
            sentence("servers", String.join(", ", inputs.servers()));
        }
    }

    /** Shows complete paths if they fit. */
    private String shortened(List<String> files) {
        int limit = 4;
        String paths = String.join(", ", files);
        if (paths.length() < width - LABEL - 20) {
            return paths;
        }
        String text = files.stream()
                .limit(limit)
                .map(path -> path.substring(path.lastIndexOf('/') + 1))
                .collect(Collectors.joining(", "));
        return files.size() <= limit ? text : text + " and " + (files.size() - limit) + " more";
    }

    private void timeRange(StatementGroup all) {
        String rate = rate(all);
        String length = " (" + NumberFormatter.seconds(range.length()) + ")";
        field("time", ReportNotes.period(report, range) + length + (rate.isEmpty() ? "" : ", " + rate));
        if (range.outliers() > 0) {
            alarm("", ReportNotes.outliers(report, range));
        }
        if (digest.facts().otherZone() > 0) {
            alarm("", ReportNotes.otherZone(digest.facts().otherZone()));
        }
        if (digest.furtherOnes() > 0) {
            alarm("", ReportNotes.furtherOnes(digest));
        }
    }

    private String rate(StatementGroup group) {
        double seconds = range.length();
        if (seconds < 2 || group.first().equals(group.last())) {
            return "";
        }
        String rate = Rates.of(group.count(), seconds);
        return digest.isTimed() ? rate + ", load " + Rates.load(group.queryTime.sum(), seconds) : rate;
    }

    private void leftOut() {
        Report.Inputs inputs = report.inputs();
        if (!inputs.filter().isEmpty()) {
            sentence("filter", inputs.filter());
        }
        if (inputs.leftOut() > 0) {
            field("left out", ReportNotes.leftOut(inputs.leftOut()));
        }
        if (inputs.deadLetters() > 0) {
            alarm("left out", ReportNotes.deadLetters(inputs.deadLetters()));
        }
    }

    private void title(String text) {
        out.append(ink.heading(text)).append('\n');
    }

    private void field(String name, String value) {
        String label = name + " ".repeat(Math.max(1, LABEL - name.length()));
        out.append(INDENT).append(ink.faint(label)).append(value).append('\n');
    }

    /** Writes a field that is wrapped into lines. */
    private void sentence(String name, String value) {
        sentence(name, value, UnaryOperator.identity());
    }

    private void alarm(String name, String value) {
        sentence(name, value, ink::alarm);
    }

    private void sentence(String name, String value, UnaryOperator<String> colour) {
        String label = name;
        for (String line : TerminalLines.wrapped(value, width - INDENT.length() - LABEL, MAX_LINES)) {
            field(label, colour.apply(line));
            label = "";
        }
    }

    private void measures(StatementGroup group) {
        TextTable table = new TextTable("lrrrrrrr");
        table.ink(0, ink::faint);
        table.row("", "total", "min", "avg", "p50", "p95", "p99", "max");
        measure(table, "query time", group.queryTime, NumberFormatter::seconds);
        measure(table, "lock time", group.lockTime, NumberFormatter::seconds);
        measure(table, "rows examined", group.rowsExamined, NumberFormatter::count);
        measure(table, "rows sent", group.rowsSent, NumberFormatter::count);
        measure(table, "rows affected", group.rowsAffected, NumberFormatter::count);
        measure(table, "bytes sent", group.bytesSent, NumberFormatter::bytes);
        if (table.size() > 1) {
            table.write(INDENT, ink::faint, out);
        }
    }

    private static void measure(TextTable table, String name, LatencyHistogram values, DoubleFunction<String> format) {
        if (values == null || values.sum() == 0) {
            return;
        }
        table.row(
                name,
                format.apply(values.sum()),
                format.apply(values.smallest()),
                format.apply(values.average()),
                format.apply(values.quantile(0.5)),
                format.apply(values.quantile(0.95)),
                format.apply(values.quantile(0.99)),
                format.apply(values.largest()));
    }

    private void profile(List<StatementGroup> heaviest) {
        out.append('\n');
        title("Profile by " + report.ranking().title()
                + (report.shared() == report.ranking()
                        ? ""
                        : "; shares are of the " + report.shared().title()));
        boolean timed = digest.isTimed();
        TextTable table = timed ? new TextTable("rrlrrrrrrrl") : new TextTable("rrlrrl");
        table.ink(2, ink::bar);
        String noun =
                digest.grouping().isByQuery() ? "statement" : digest.grouping().noun();
        if (timed) {
            table.row("#", "share", "", "total", "count", "avg", "p95", "p99", "max", "exam/sent", noun);
        } else {
            table.row("#", "share", "", "count", "errors", noun);
        }
        for (int i = 0; i < heaviest.size(); i++) {
            table.row(cells(Integer.toString(i + 1), heaviest.get(i)));
        }
        others(heaviest, table);
        int last = timed ? 10 : 5;
        if (timed && width < NARROW) {
            table.drop(9);
            table.drop(7);
            last -= 2;
        }
        cutColumn(table, last);
        table.write(INDENT, ink::faint, out);
    }

    /** Truncates the last column to the rest of the line. */
    private void cutColumn(TextTable table, int column) {
        table.cut(column, Math.max(MIN_STATEMENT, width - INDENT.length() - table.before(column)));
    }

    private String[] cells(String rank, StatementGroup group) {
        double share = report.share(group);
        String percent = NumberFormatter.share(share, 1);
        String bar = BarChart.horizontal(share, SHARE_BAR);
        String count = NumberFormatter.count(group.count());
        if (!digest.isTimed()) {
            return new String[] {rank, percent, bar, count, NumberFormatter.count(group.errors), label(group)};
        }
        LatencyHistogram time = group.queryTime;
        return new String[] {
            rank,
            percent,
            bar,
            NumberFormatter.seconds(time.sum()),
            count,
            NumberFormatter.seconds(time.average()),
            NumberFormatter.seconds(time.quantile(0.95)),
            NumberFormatter.seconds(time.quantile(0.99)),
            NumberFormatter.seconds(time.largest()),
            group.rowsExamined.sum() == 0 ? "" : NumberFormatter.count(group.examinedPerSent()),
            label(group)
        };
    }

    private static String label(StatementGroup group) {
        return group.name.isEmpty() ? "(none)" : TerminalLines.one(group.name);
    }

    private void others(List<StatementGroup> heaviest, TextTable table) {
        int others = digest.groupCount() - heaviest.size();
        if (others == 0 || digest.grouping().overlaps()) {
            return;
        }
        double time = digest.whole().queryTime.sum();
        double count = digest.whole().count();
        double share = report.share(digest.whole());
        for (StatementGroup group : heaviest) {
            time -= group.queryTime.sum();
            count -= group.count();
            share -= report.share(group);
        }
        String percent = NumberFormatter.share(Math.max(0, share), 1);
        String bar = BarChart.horizontal(Math.max(0, share), SHARE_BAR);
        String label = NumberFormatter.whole(others) + " more "
                + (others == 1 ? digest.grouping().noun() : digest.grouping().nouns());
        if (digest.isTimed()) {
            String total = NumberFormatter.seconds(Math.max(0, time));
            table.row("", percent, bar, total, NumberFormatter.count(count), "", "", "", "", "", label);
        } else {
            table.row("", percent, bar, NumberFormatter.count(count), "", label);
        }
    }

    private void detail(int rank, StatementGroup group) {
        out.append('\n');
        heading(rank, group);
        statement(group);
        names("tables", group.tables.counts(), group.count());
        names("databases", group.databases, group.count());
        names("users", group.users, group.count());
        names("hosts", group.hosts, group.count());
        flags(group);
        errors(group);
        if (hasDigest(group)) {
            field("digest", group.digest);
        }
        field("seen", report.span(group.first(), group.last()) + (rate(group).isEmpty() ? "" : ", " + rate(group)));
        if (digest.isTimed()) {
            measures(group);
            distribution(group);
        }
        overTime("when", group, false);
    }

    private void heading(int rank, StatementGroup group) {
        String name = group.queryId == 0 ? ofDigest(group) : Report.id(group);
        List<String> parts = new ArrayList<>();
        if (digest.isTimed()) {
            parts.add(NumberFormatter.share(
                            group.queryTime.sum(), digest.whole().queryTime.sum()) + " of time");
        }
        parts.add(NumberFormatter.whole(group.count())
                + (group.count() == 1 ? " statement, " : " statements, ")
                + NumberFormatter.share(group.count(), digest.whole().count()));
        String right = String.join(" · ", parts);
        int line = Math.min(width, 120) - 7 - Integer.toString(rank).length() - name.length() - right.length();
        out.append(ink.faint("── "))
                .append(ink.heading("#" + rank + " " + name))
                .append(ink.faint(" " + "─".repeat(Math.max(1, line)) + " "))
                .append(right)
                .append('\n');
    }

    /** Returns the name of a group without a query id: a class has the first digits of its digest. */
    private String ofDigest(StatementGroup group) {
        return hasDigest(group)
                ? "digest " + group.digest.substring(0, Math.min(DIGEST_DIGITS, group.digest.length()))
                : label(group);
    }

    private boolean hasDigest(StatementGroup group) {
        return digest.isOfCounters() && digest.grouping().isByQuery() && !group.digest.isEmpty();
    }

    private void statement(StatementGroup group) {
        if (!digest.grouping().isByQuery()) {
            heaviestClasses(group);
            return;
        }
        for (String line : TerminalLines.wrapped(report.example(group, examples), width - INDENT.length(), MAX_LINES)) {
            out.append(INDENT).append(ink.strong(line)).append('\n');
        }
    }

    private void heaviestClasses(StatementGroup group) {
        double total = group.classes.total();
        group.classes.heaviest().stream().limit(MAX_NAMES).forEach(count -> {
            String share = total == 0 ? "" : NumberFormatter.share(count.weight(), total);
            String text = TerminalLines.cut(TerminalLines.one(count.name()), width - INDENT.length() - LABEL);
            field(share, ink.strong(text));
        });
    }

    private void names(String what, NameCounts names, double total) {
        List<NameCounts.Count> counts = names.heaviest();
        boolean none =
                counts.isEmpty() || counts.size() == 1 && counts.get(0).name().isEmpty();
        if (none) {
            return;
        }
        String text = counts.stream()
                .limit(MAX_NAMES)
                .map(count -> name(count, counts.size() > 1, total))
                .collect(Collectors.joining(", "));
        sentence(what, text + (counts.size() > MAX_NAMES ? " and " + (counts.size() - MAX_NAMES) + " more" : ""));
    }

    private static String name(NameCounts.Count count, boolean withShare, double total) {
        String name = count.name().isEmpty() ? "(none)" : TerminalLines.one(count.name());
        return withShare ? name + " " + NumberFormatter.share(count.weight(), total) : name;
    }

    private void flags(StatementGroup group) {
        if (group.planFlags.isEmpty()) {
            return;
        }
        String text = group.planFlags.heaviest().stream()
                .map(count -> ink.alarm(count.name().replace('_', ' ')) + " "
                        + NumberFormatter.share(count.weight(), group.count()))
                .collect(Collectors.joining(", "));
        alarm("plan", text);
    }

    private void errors(StatementGroup group) {
        if (group.errors == 0) {
            return;
        }
        alarm("errors", ReportNotes.errors(group, MAX_NAMES));
    }

    /** Writes the distribution of query times; the lengths of the bars are logarithmic. */
    private void distribution(StatementGroup group) {
        List<DurationBucket> steps = DurationBucket.of(group.queryTime);
        if (steps.size() < 2) {
            return;
        }
        out.append(INDENT)
                .append(ink.faint("query time (bars are logarithmic)"))
                .append('\n');
        double max = steps.stream().mapToDouble(DurationBucket::weight).max().orElse(0);
        int columns = Math.min(MAX_BAR_LENGTH, Math.max(10, width - 40));
        for (DurationBucket step : steps) {
            String from = "≥ " + (step.from() == 0 ? "0" : NumberFormatter.seconds(step.from()));
            String bar = BarChart.logarithmic(step.weight(), max, columns);
            String numbers = step.weight() == 0
                    ? ""
                    : String.format(
                            Locale.ROOT,
                            "%s %s",
                            NumberFormatter.count(step.weight()),
                            NumberFormatter.share(step.weight(), group.count()));
            out.append(INDENT)
                    .append(ink.faint(" ".repeat(Math.max(0, LABEL - 2 - from.length())) + from))
                    .append("  ")
                    .append(ink.bar(bar))
                    .append(bar.isEmpty() ? "" : " ")
                    .append(ink.faint(numbers))
                    .append('\n');
        }
    }

    /** Writes one character for each interval of the log's time range. */
    private void overTime(String label, StatementGroup group, boolean load) {
        if (range.length() < 2 || digest.isOfCounters()) {
            return;
        }
        int columns = (int) Math.min(range.length(), Math.min(MAX_COLUMNS, Math.max(20, width - 45)));
        double[] values = load
                ? group.slots.times(range.from(), range.to(), columns)
                : group.slots.weights(range.from(), range.to(), columns);
        double seconds = range.length() / (double) columns;
        double max = 0;
        for (double value : values) {
            max = Math.max(max, value);
        }
        String peak = load
                ? "peak load " + NumberFormatter.number(max / seconds)
                : "peak " + NumberFormatter.count(max) + " in " + NumberFormatter.seconds(seconds);
        field(label, ink.bar("│" + BarChart.line(values) + "│") + " " + ink.faint(peak));
    }
}
