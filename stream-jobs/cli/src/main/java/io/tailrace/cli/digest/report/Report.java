package io.tailrace.cli.digest.report;

import io.tailrace.cli.digest.aggregate.Digest;
import io.tailrace.cli.digest.aggregate.ExampleStatement;
import io.tailrace.cli.digest.aggregate.Ranking;
import io.tailrace.cli.digest.aggregate.StatementGroup;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;

/**
 * The contents and the settings of a report; {@link TextReport}, {@link JsonReport} and {@link HtmlReport} write it.
 *
 * @param ranking measure by which groups are ordered
 * @param limit maximum number of groups
 * @param zone time zone of the report
 * @param literals show examples as they were logged
 */
public record Report(Digest digest, Inputs inputs, Ranking ranking, int limit, ZoneId zone, boolean literals) {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);
    private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("yyyy-MM-dd", Locale.ROOT);
    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

    /**
     * The input of a report.
     *
     * @param files the logs
     * @param bytes size of all of them, uncompressed
     * @param deadLetters number of dead letters
     * @param leftOut statements outside of the time range or the filter
     * @param filter text of the filter, or empty
     * @param servers versions of the servers, from the banners of the logs
     * @param isSinceServerCounts counters of a server: whether they are all that it has counted, and not those of an
     *     interval
     */
    public record Inputs(
            List<String> files,
            long bytes,
            long deadLetters,
            long leftOut,
            String filter,
            List<String> servers,
            boolean isSinceServerCounts) {}

    List<StatementGroup> heaviest() {
        return digest.heaviest(ranking, limit);
    }

    /** Returns the measure of the shares: the ranked one, or the total time if that does not add up. */
    Ranking shared() {
        if (!digest.isTimed()) {
            return Ranking.COUNT;
        }
        return ranking.addsUp() ? ranking : Ranking.TOTAL;
    }

    double share(StatementGroup group) {
        double whole = shared().of(digest.whole());
        return whole == 0 ? 0 : shared().of(group) / whole;
    }

    String zoneName() {
        return zone.normalized().equals(ZoneOffset.UTC) || "Etc/UTC".equals(zone.getId()) ? "UTC" : zone.getId();
    }

    String time(Instant time) {
        return TIME.format(time.atZone(zone));
    }

    /** Returns a time range such as {@code 2026-11-21 02:49:03 to 03:51:20}. */
    String span(Instant from, Instant to) {
        boolean sameDay = DAY.format(from.atZone(zone)).equals(DAY.format(to.atZone(zone)));
        return time(from) + (sameDay ? " to " + CLOCK.format(to.atZone(zone)) : " to " + time(to));
    }

    /** Returns the example of a group as it may be shown; its fingerprint if there is none. */
    String example(StatementGroup group, ExampleStatement examples) {
        boolean known = group.example != null && !group.example.isEmpty();
        String shown =
                !known ? "" : literals ? ExampleStatement.unmasked(group.example) : examples.masked(group.example);
        return shown.isEmpty() ? group.name : shown;
    }

    static String id(StatementGroup group) {
        return String.format("%016X", group.queryId);
    }
}
