package io.tailrace.cli.digest.report;

import io.tailrace.cli.digest.aggregate.Digest;
import io.tailrace.cli.digest.aggregate.LoggingProperties;
import io.tailrace.cli.digest.aggregate.ObservedTimeRange;
import io.tailrace.cli.digest.aggregate.ServerErrorCodes;
import io.tailrace.cli.digest.aggregate.StatementGroup;
import io.tailrace.cli.digest.render.NumberFormatter;
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;

/** Formats the properties of the logs as sentences. */
final class ReportNotes {

    private ReportNotes() {}

    /** Returns the duration from which on statements seem to be logged. */
    static String threshold(LoggingProperties facts) {
        double fastest = facts.fastest();
        double threshold = LoggingProperties.threshold(fastest);
        String evidence = "the fastest logged statement took " + NumberFormatter.seconds(fastest);
        if (threshold == 0) {
            return "none: " + evidence + ", so all statements seem to be logged";
        }
        String examined = facts.minExamined() < 2
                ? ""
                : ", and none examined fewer than " + NumberFormatter.whole(facts.minExamined()) + " rows";
        return threshold < 0
                ? evidence + examined
                : "long_query_time seems to be " + NumberFormatter.seconds(threshold) + ": " + evidence + examined;
    }

    /** Returns the sampling rate. */
    static String sampling(Digest digest) {
        List<Double> limits = digest.facts().rateLimits();
        String limit = limits.stream().map(NumberFormatter::whole).collect(Collectors.joining(" to "));
        List<String> types = digest.facts().rateTypes();
        String of = types.contains("session") ? "sessions" : "statements";
        return "1 of " + limit + " " + of + " (log_slow_rate_limit): " + NumberFormatter.whole(digest.entries())
                + (digest.entries() == 1 ? " entry represents " : " entries represent ")
                + statements(digest.whole().count())
                + "; all counts, sums and percentiles are weighted";
    }

    /** Returns of which time the counters of a server are. */
    static String counted(Report report) {
        return report.inputs().isSinceServerCounts()
                ? "since the server began to count: its start, or the last TRUNCATE of its table"
                : "in an interval: the difference of two readings";
    }

    /** Returns what is known of the distribution of query times. */
    static String percentiles(Digest digest) {
        return digest.whole().queryTime.hasQuantiles()
                ? "by the server's histograms: up to 2.4 % off, and 5µs stands for all below 10µs"
                : "unknown (?): this server has no histograms of digests, which MySQL has since 8.0";
    }

    /** Returns the time range of the logs. */
    static String period(Report report, ObservedTimeRange range) {
        StatementGroup all = report.digest().whole();
        boolean outliers = range.outliers() > 0 || report.digest().isOfCounters();
        Instant from = outliers ? Instant.ofEpochSecond(range.from()) : all.first();
        Instant to = outliers ? Instant.ofEpochSecond(range.to()) : all.last();
        return report.span(from, to) + " " + report.zoneName();
    }

    static String statements(double count) {
        return NumberFormatter.whole(count) + (count == 1 ? " statement" : " statements");
    }

    static String leftOut(long entries) {
        return NumberFormatter.whole(entries) + (entries == 1 ? " entry" : " entries")
                + " outside of --since, --until and --filter";
    }

    static String deadLetters(long count) {
        return NumberFormatter.whole(count) + (count == 1 ? " dead letter" : " dead letters")
                + ": not an entry of the log, or an entry that cannot be read; tailrace parse shows the reasons";
    }

    /** Returns a note about statements beyond the maximum number of groups. */
    static String furtherOnes(Digest digest) {
        String nouns = digest.grouping().nouns();
        return statements(digest.furtherOnes()) + " of other " + nouns + " than the first "
                + NumberFormatter.whole(Digest.MAX_GROUPS) + " are counted together as " + Digest.FURTHER
                + "; --since, --until and --filter reduce the number";
    }

    /** Returns a note about entries whose local times are most likely of another time zone. */
    static String otherZone(long entries) {
        return NumberFormatter.whole(entries) + (entries == 1 ? " entry suggests" : " entries suggest")
                + " that the log's local times are of another zone: their SET timestamp is hours apart; set --tz";
    }

    /** Returns a note about statements whose times are far from all others. */
    static String outliers(Report report, ObservedTimeRange range) {
        StatementGroup all = report.digest().whole();
        boolean before = all.first().isBefore(Instant.ofEpochSecond(range.from()));
        return statements(range.outliers()) + (range.outliers() == 1 ? " has a time" : " have times")
                + " far outside, such as "
                + report.time(before ? all.first() : all.last()) + ": counted, but in no chart";
    }

    /** Returns the most frequent errors of statements. */
    static String errors(StatementGroup group, int limit) {
        String codes = group.errorCodes.heaviest().stream()
                .limit(limit)
                .map(count -> ServerErrorCodes.describe(count.name()) + " × " + NumberFormatter.count(count.weight()))
                .collect(Collectors.joining(", "));
        String share = NumberFormatter.share(group.errors, group.count()) + " of statements";
        return codes.isEmpty() ? share : share + ": " + codes;
    }
}
