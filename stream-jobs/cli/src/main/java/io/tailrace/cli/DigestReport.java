package io.tailrace.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.DoubleFunction;
import java.util.stream.Collectors;

/** The digest as text for a terminal: the whole, a profile of the heaviest classes, then each of them. */
final class DigestReport {

    private static final int PROFILE_STATEMENT = 60;
    private static final int MOST_NAMES = 5;

    private final Digest digest;
    private final StringBuilder out = new StringBuilder();

    DigestReport(Digest digest) {
        this.digest = digest;
    }

    String write(Ranking ranking, int limit) {
        if (digest.entries == 0) {
            return "No statements.\n";
        }
        List<ClassStatistics> heaviest = digest.heaviest(ranking, limit);
        overall();
        profile(heaviest, ranking);
        for (int rank = 0; rank < heaviest.size(); rank++) {
            detail(rank + 1, heaviest.get(rank));
        }
        return out.toString();
    }

    private void overall() {
        ClassStatistics all = digest.overall;
        out.append("Overall: ").append(Figures.count(all.queryTime.weight())).append(" statements of ");
        out.append(digest.classCount()).append(" classes took ").append(Figures.seconds(all.queryTime.sum()));
        out.append(", ")
                .append(all.first)
                .append(" to ")
                .append(all.last)
                .append(rate(all))
                .append('\n');
        if (all.queryTime.weight() != digest.entries) {
            line(
                    "         %d entries; the server logs a sample, and each counts for what it stands for",
                    digest.entries);
        }
        if (digest.deadLetters > 0) {
            line("         %d dead letters are left out", digest.deadLetters);
        }
        out.append('\n');
        measures(all);
    }

    private static String rate(ClassStatistics all) {
        double seconds = Duration.between(all.first, all.last).toMillis() / 1e3;
        return seconds < 1
                ? ""
                : String.format(
                        Locale.ROOT,
                        ", %.1f statements/s, load %.2f",
                        all.queryTime.weight() / seconds,
                        all.queryTime.sum() / seconds);
    }

    private void measures(ClassStatistics statistics) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("", "total", "min", "avg", "p50", "p95", "p99", "max"));
        rows.add(measure("query time", statistics.queryTime, Figures::seconds));
        rows.add(measure("lock time", statistics.lockTime, Figures::seconds));
        rows.add(measure("rows sent", statistics.rowsSent, Figures::count));
        rows.add(measure("rows examined", statistics.rowsExamined, Figures::count));
        table(rows, 1);
    }

    private static List<String> measure(String name, LogBuckets values, DoubleFunction<String> format) {
        return List.of(
                name,
                format.apply(values.sum()),
                format.apply(values.smallest()),
                format.apply(values.average()),
                format.apply(values.quantile(0.5)),
                format.apply(values.quantile(0.95)),
                format.apply(values.quantile(0.99)),
                format.apply(values.largest()));
    }

    private void profile(List<ClassStatistics> heaviest, Ranking ranking) {
        out.append("\nProfile, heaviest ").append(ranking).append(" first\n");
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of(
                "rank",
                "total",
                "share",
                "count",
                "p50",
                "p95",
                "p99",
                "max",
                "examined/sent",
                "query_id",
                "statement"));
        int rank = 1;
        double shown = 0;
        for (ClassStatistics statistics : heaviest) {
            rows.add(profileRow(rank++, statistics));
            shown += statistics.queryTime.sum();
        }
        double rest = Math.max(0, digest.overall.queryTime.sum() - shown);
        int others = digest.classCount() - heaviest.size();
        if (others > 0) {
            rows.add(List.of(
                    "",
                    Figures.seconds(rest),
                    Figures.share(rest, digest.overall.queryTime.sum()),
                    "",
                    "",
                    "",
                    "",
                    "",
                    "",
                    "",
                    others + " more classes"));
        }
        table(rows, 2);
    }

    private List<String> profileRow(int rank, ClassStatistics statistics) {
        LogBuckets time = statistics.queryTime;
        double sent = statistics.rowsSent.sum();
        String ratio = sent == 0 ? "-" : Figures.count(statistics.rowsExamined.sum() / sent);
        return List.of(
                Integer.toString(rank),
                Figures.seconds(time.sum()),
                Figures.share(time.sum(), digest.overall.queryTime.sum()),
                Figures.count(time.weight()),
                Figures.seconds(time.quantile(0.5)),
                Figures.seconds(time.quantile(0.95)),
                Figures.seconds(time.quantile(0.99)),
                Figures.seconds(time.largest()),
                ratio,
                id(statistics),
                cut(ParseCommand.oneLine(statistics.fingerprint)));
    }

    private static String id(ClassStatistics statistics) {
        return String.format("%016X", statistics.queryId);
    }

    private static String cut(String text) {
        return text.length() <= PROFILE_STATEMENT ? text : text.substring(0, PROFILE_STATEMENT - 1) + "…";
    }

    private void detail(int rank, ClassStatistics statistics) {
        out.append('\n');
        line(
                "#%d  %s  %s of all time, %s of all statements",
                rank,
                id(statistics),
                Figures.share(statistics.queryTime.sum(), digest.overall.queryTime.sum()),
                Figures.share(statistics.queryTime.weight(), digest.overall.queryTime.weight()));
        line("    seen %s to %s", statistics.first, statistics.last);
        names("databases", statistics.databases, statistics);
        names("users", statistics.users, statistics);
        names("hosts", statistics.hosts, statistics);
        names("plan", statistics.planFlags, statistics);
        if (statistics.errors > 0) {
            line("    errors %s", Figures.count(statistics.errors));
        }
        measures(statistics);
        line("    %s", statistics.fingerprint);
    }

    private void names(String what, Map<String, Double> counts, ClassStatistics statistics) {
        if (counts.isEmpty()) {
            return;
        }
        String text = counts.entrySet().stream()
                .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
                .limit(MOST_NAMES)
                .map(entry -> (entry.getKey().isEmpty() ? "(none)" : ParseCommand.oneLine(entry.getKey())) + " "
                        + Figures.share(entry.getValue(), statistics.queryTime.weight()))
                .collect(Collectors.joining(", "));
        line("    %s %s%s", what, text, counts.size() > MOST_NAMES ? ", …" : "");
    }

    private void line(String format, Object... values) {
        out.append(String.format(Locale.ROOT, format, values)).append('\n');
    }

    /** Writes rows in columns: the last ones at the left edge, the others at the right. */
    private void table(List<List<String>> rows, int leftColumns) {
        int columns = rows.get(0).size();
        boolean firstIsName = leftColumns == 1;
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int column = 0; column < columns; column++) {
                widths[column] = Math.max(widths[column], row.get(column).length());
            }
        }
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder("    ");
            for (int column = 0; column < columns; column++) {
                boolean left = firstIsName ? column == 0 : column >= columns - leftColumns;
                String padding = " ".repeat(widths[column] - row.get(column).length());
                line.append(left ? row.get(column) + padding : padding + row.get(column))
                        .append("  ");
            }
            out.append(line.toString().stripTrailing()).append('\n');
        }
    }
}
