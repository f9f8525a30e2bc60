package io.tailrace.cli.digest.aggregate;

import java.util.Arrays;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** The measure by which groups are ordered. */
public enum Ranking {
    TOTAL("total time", group -> group.queryTime.sum()),
    COUNT("count", StatementGroup::count),
    AVG("average time", group -> group.queryTime.average()),
    P50("p50 of time", group -> group.queryTime.quantile(0.5)),
    P95("p95 of time", group -> group.queryTime.quantile(0.95)),
    P99("p99 of time", group -> group.queryTime.quantile(0.99)),
    MAX("longest time", group -> group.queryTime.largest()),
    LOCK("lock time", group -> group.lockTime.sum()),
    ROWS_SENT("rows sent", group -> group.rowsSent.sum()),
    ROWS_EXAMINED("rows examined", group -> group.rowsExamined.sum()),
    ROWS_AFFECTED("rows affected", group -> group.rowsAffected == null ? 0 : group.rowsAffected.sum()),
    EXAMINED_PER_SENT("rows examined per row sent", StatementGroup::examinedPerSent),
    BYTES("bytes sent", group -> group.bytesSent == null ? 0 : group.bytesSent.sum()),
    ERRORS("errors", group -> group.errors);

    /** The names of rankings on the command line. */
    public static final String NAMES = "total, count, avg, p50, p95, p99, max, lock, rows_sent, rows_examined,"
            + " rows_affected, examined_per_sent, bytes, errors";

    private final String title;
    private final ToDoubleFunction<StatementGroup> measure;

    Ranking(String title, ToDoubleFunction<StatementGroup> measure) {
        this.title = title;
        this.measure = measure;
    }

    /** Returns the ranking with this name, or null; {@code rows-sent} and {@code rows_sent} are the same. */
    public static Ranking named(String text) {
        String wanted = text.replace('-', '_');
        return Arrays.stream(values())
                .filter(ranking -> ranking.toString().equals(wanted))
                .findFirst()
                .orElse(null);
    }

    /** Returns the measure of a group; an unknown one is less than any other. */
    public double of(StatementGroup group) {
        double value = measure.applyAsDouble(group);
        return Double.isNaN(value) ? Double.NEGATIVE_INFINITY : value;
    }

    /** Returns whether the measure of the total is the sum of the groups. */
    public boolean addsUp() {
        return switch (this) {
            case TOTAL, COUNT, LOCK, ROWS_SENT, ROWS_EXAMINED, ROWS_AFFECTED, BYTES, ERRORS -> true;
            default -> false;
        };
    }

    public String title() {
        return title;
    }

    /** Returns the name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
