package io.tailrace.cli;

import io.tailrace.json.RecordJson;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The digest as one JSON object. Times are seconds; counts are weighted. */
final class DigestJson {

    private final Digest digest;
    private final StringBuilder out = new StringBuilder();

    DigestJson(Digest digest) {
        this.digest = digest;
    }

    String write(Ranking ranking, int limit) {
        out.append("{\"entries\":").append(digest.entries);
        out.append(",\"dead_letters\":").append(digest.deadLetters);
        out.append(",\"classes_total\":").append(digest.classCount());
        out.append(",\"overall\":{");
        statistics(digest.overall);
        out.append("},\"classes\":[");
        List<ClassStatistics> heaviest = digest.heaviest(ranking, limit);
        for (int i = 0; i < heaviest.size(); i++) {
            out.append(i == 0 ? "" : ",");
            oneClass(i + 1, heaviest.get(i));
        }
        return out.append("]}\n").toString();
    }

    private void oneClass(int rank, ClassStatistics statistics) {
        out.append("{\"rank\":").append(rank);
        text("query_id", String.format("%016X", statistics.queryId));
        text("fingerprint", statistics.fingerprint);
        text("verb", statistics.verb);
        double total = digest.overall.queryTime.sum();
        number("share", total == 0 ? 0 : statistics.queryTime.sum() / total);
        out.append(',');
        statistics(statistics);
        out.append('}');
    }

    private void statistics(ClassStatistics statistics) {
        out.append("\"count\":").append(format(statistics.queryTime.weight()));
        if (statistics.queryTime.weight() > 0) {
            text("first", statistics.first.toString());
            text("last", statistics.last.toString());
        }
        number("errors", statistics.errors);
        measure("query_time", statistics.queryTime);
        measure("lock_time", statistics.lockTime);
        measure("rows_sent", statistics.rowsSent);
        measure("rows_examined", statistics.rowsExamined);
        counts("databases", statistics.databases);
        counts("users", statistics.users);
        counts("hosts", statistics.hosts);
        counts("plan_flags", statistics.planFlags);
    }

    private void measure(String name, LogBuckets values) {
        out.append(",\"").append(name).append("\":{\"sum\":").append(format(values.sum()));
        number("min", values.smallest());
        number("avg", values.average());
        number("p50", values.quantile(0.5));
        number("p95", values.quantile(0.95));
        number("p99", values.quantile(0.99));
        number("max", values.largest());
        out.append('}');
    }

    private void counts(String name, Map<String, Double> counts) {
        out.append(",\"").append(name).append("\":{");
        String separator = "";
        for (Map.Entry<String, Double> entry : counts.entrySet()) {
            out.append(separator);
            RecordJson.quote(entry.getKey(), out);
            out.append(':').append(format(entry.getValue()));
            separator = ",";
        }
        out.append('}');
    }

    private void number(String name, double value) {
        out.append(",\"").append(name).append("\":").append(format(value));
    }

    private void text(String name, String value) {
        out.append(",\"").append(name).append("\":");
        RecordJson.quote(value, out);
    }

    /** Without an exponent, and without decimals where there are none. */
    private static String format(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e15
                ? String.format(Locale.ROOT, "%.0f", value)
                : String.format(Locale.ROOT, "%.9f", value);
    }
}
