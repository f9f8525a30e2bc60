package io.tailrace.cli.digest.report;

import io.tailrace.cli.digest.aggregate.Digest;
import io.tailrace.cli.digest.aggregate.ExampleStatement;
import io.tailrace.cli.digest.aggregate.LatencyHistogram;
import io.tailrace.cli.digest.aggregate.NameCounts;
import io.tailrace.cli.digest.aggregate.ObservedTimeRange;
import io.tailrace.cli.digest.aggregate.StatementGroup;
import io.tailrace.json.AvroJsonWriter;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/** Writes the digest as one JSON object. Times are seconds; counts are weighted. */
public final class JsonReport {

    private static final int COLUMNS = 60;
    private static final int MAX_NAMES = 100;

    private final Report report;
    private final Digest digest;
    private final ExampleStatement examples = new ExampleStatement();
    private final ObservedTimeRange range;
    private final StringBuilder out = new StringBuilder();

    public JsonReport(Report report) {
        this.report = report;
        this.digest = report.digest();
        this.range = digest.range();
    }

    public String write() {
        Report.Inputs inputs = report.inputs();
        out.append("{\"entries\":").append(digest.entries());
        out.append(",\"files\":");
        texts(inputs.files());
        out.append(",\"bytes\":").append(inputs.bytes());
        out.append(",\"servers\":");
        texts(inputs.servers());
        out.append(",\"dead_letters\":").append(inputs.deadLetters());
        out.append(",\"left_out\":").append(inputs.leftOut());
        text("filter", inputs.filter());
        if (digest.isOfCounters()) {
            out.append(",\"is_since_server_counts\":").append(inputs.isSinceServerCounts());
        }
        out.append(",\"timed\":").append(digest.isTimed());
        text("group_by", digest.grouping().toString());
        text("order_by", report.ranking().toString());
        if (digest.entries() > 0) {
            facts();
        }
        out.append(",\"groups_total\":").append(digest.groupCount());
        out.append(",\"overall\":{");
        statistics(digest.whole());
        out.append("},\"groups\":[");
        List<StatementGroup> heaviest = report.heaviest();
        for (int i = 0; i < heaviest.size(); i++) {
            out.append(i == 0 ? "" : ",");
            group(i + 1, heaviest.get(i));
        }
        return out.append("]}\n").toString();
    }

    private void facts() {
        text("from", Instant.ofEpochSecond(range.from()).toString());
        text("to", Instant.ofEpochSecond(range.to()).toString());
        number("strays", range.outliers());
        number("other_zone", digest.facts().otherZone());
        number("further_ones", digest.furtherOnes());
        number("slot_seconds", range.length() / (double) COLUMNS);
        if (digest.facts().isSampled()) {
            out.append(",\"rate_limits\":[");
            separated(
                    digest.facts().rateLimits().stream().map(JsonReport::format).toList());
            out.append("],\"rate_types\":");
            texts(digest.facts().rateTypes());
        }
    }

    private void group(int rank, StatementGroup group) {
        out.append("{\"rank\":").append(rank);
        if (digest.grouping().isByQuery()) {
            if (group.queryId == 0 && digest.isOfCounters()) {
                out.append(",\"query_id\":null");
            } else {
                text("query_id", Report.id(group));
            }
            if (digest.isOfCounters()) {
                text("digest", group.digest);
            }
            text("fingerprint", group.name);
            text("verb", group.verb);
            text("example", report.example(group, examples));
        } else {
            text("name", group.name);
        }
        number("share", report.share(group));
        out.append(',');
        statistics(group);
        out.append('}');
    }

    private void statistics(StatementGroup group) {
        out.append("\"count\":").append(format(group.count()));
        if (group.count() > 0) {
            text("first", group.first().toString());
            text("last", group.last().toString());
        }
        number("errors", group.errors);
        if (digest.isTimed()) {
            measure("query_time", group.queryTime);
            measure("lock_time", group.lockTime);
            measure("rows_sent", group.rowsSent);
            measure("rows_examined", group.rowsExamined);
            measure("rows_affected", group.rowsAffected);
            measure("bytes_sent", group.bytesSent);
        }
        counts("tables", group.tables.counts());
        counts("databases", group.databases);
        if (digest.isOfCounters()) {
            counts("plan_flags", group.planFlags);
            return;
        }
        counts("users", group.users);
        counts("hosts", group.hosts);
        counts("plan_flags", group.planFlags);
        counts("error_codes", group.errorCodes);
        slots("counts", group.slots.weights(range.from(), range.to(), COLUMNS));
        if (digest.isTimed()) {
            slots("seconds", group.slots.times(range.from(), range.to(), COLUMNS));
        }
    }

    private void measure(String name, LatencyHistogram values) {
        if (values == null) {
            return;
        }
        out.append(",\"").append(name).append("\":{\"sum\":").append(format(values.sum()));
        number("min", values.smallest());
        number("avg", values.average());
        number("p50", values.quantile(0.5));
        number("p95", values.quantile(0.95));
        number("p99", values.quantile(0.99));
        number("max", values.largest());
        out.append('}');
    }

    private void counts(String name, NameCounts counts) {
        out.append(",\"").append(name).append("\":{");
        String separator = "";
        for (NameCounts.Count count :
                counts.heaviest().stream().limit(MAX_NAMES).toList()) {
            out.append(separator);
            AvroJsonWriter.quote(count.name(), out);
            out.append(':').append(format(count.weight()));
            separator = ",";
        }
        out.append('}');
    }

    private void slots(String name, double[] values) {
        out.append(",\"").append(name).append("_over_time\":[");
        for (int i = 0; i < values.length; i++) {
            out.append(i == 0 ? "" : ",").append(format(Math.round(values[i] * 1e6) / 1e6));
        }
        out.append(']');
    }

    private void texts(List<String> values) {
        out.append('[');
        separated(values.stream()
                .map(value -> {
                    StringBuilder quoted = new StringBuilder();
                    AvroJsonWriter.quote(value, quoted);
                    return quoted.toString();
                })
                .toList());
        out.append(']');
    }

    private void separated(List<String> values) {
        out.append(String.join(",", values));
    }

    private void number(String name, double value) {
        out.append(",\"").append(name).append("\":").append(format(value));
    }

    private void text(String name, String value) {
        out.append(",\"").append(name).append("\":");
        AvroJsonWriter.quote(value, out);
    }

    /** Without an exponent, and without decimals for whole numbers. */
    private static String format(double value) {
        if (!Double.isFinite(value)) {
            return "null";
        }
        return value == Math.rint(value) && Math.abs(value) < 1e15
                ? String.format(Locale.ROOT, "%.0f", value)
                : String.format(Locale.ROOT, "%.9f", value);
    }
}
