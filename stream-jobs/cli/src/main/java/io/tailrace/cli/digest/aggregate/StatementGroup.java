package io.tailrace.cli.digest.aggregate;

import io.tailrace.detection.taxonomy.StatusOutcome;
import io.tailrace.event.QueryEvent;
import java.time.Instant;

/** The sums of the statements of one group, or of all statements. Counts are weighted. */
public final class StatementGroup {

    /** Time slots of a group: enough for a chart, few enough for many groups. */
    static final int SLOTS = 128;
    /** Time slots of a group if there are very many groups. */
    static final int FEW_SLOTS = 24;
    /** Time slots of the total. */
    static final int MAX_SLOTS = 4096;

    /** Resolution of times in slow logs, seconds. */
    private static final double MICROSECOND = 1e-6;

    private static final long MICROS = 1_000_000;
    private static final int NANOS_PER_MICRO = 1_000;

    /** Index among the groups of a digest. */
    final int number;
    /** Query id of a class of statements, else 0. */
    public final long queryId;
    /** Its fingerprint, or the key that the statements share. */
    public final String name;

    public final String verb;

    public final LatencyHistogram queryTime = new LatencyHistogram(MICROSECOND);
    public final LatencyHistogram lockTime = new LatencyHistogram(MICROSECOND);
    public final LatencyHistogram rowsSent = new LatencyHistogram(1);
    public final LatencyHistogram rowsExamined = new LatencyHistogram(1);
    /** Null if no statement has the number. */
    public LatencyHistogram rowsAffected;

    public LatencyHistogram bytesSent;
    public final TableCounts tables = new TableCounts();
    public final NameCounts databases = new NameCounts();
    public final NameCounts users = new NameCounts();
    public final NameCounts hosts = new NameCounts();
    public final NameCounts planFlags = new NameCounts();
    public final NameCounts errorCodes = new NameCounts();
    /** Ids of the classes among the statements, if they are grouped by another key. */
    public final NameCounts classes = new NameCounts();

    public final TimeHistogram slots;
    public double errors;
    /**
     * Epoch microseconds. A number instead of an object, because the garbage collector would have to visit every group.
     */
    private long firstMicros = Long.MAX_VALUE;

    private long lastMicros = Long.MIN_VALUE;
    /** The slowest statement as it was logged; null if it is not stored. */
    public String example;

    private double exampleTime = -1;

    /** Name of its first digest at the server; null if its statements are not from counters of a server. */
    public String digest;

    StatementGroup(int number, long queryId, String name, String verb, int slots) {
        this.number = number;
        this.queryId = queryId;
        this.name = name;
        this.verb = verb;
        this.slots = new TimeHistogram(slots);
    }

    /** Adds the tables of a statement and its plan flags. */
    void addPlan(QueryEvent event) {
        double weight = event.getWeight();
        tables.add(event, weight);
        for (String flag : event.getPlanFlags()) {
            planFlags.add(flag, weight);
        }
    }

    /** Counts a buffered statement. */
    void countRow(StatementBuffer backlog, int row, NameDictionary names) {
        double weight = backlog.weight(row);
        double seconds = backlog.queryTime(row);
        queryTime.add(seconds, weight);
        lockTime.add(backlog.lockTime(row), weight);
        rowsSent.add(backlog.rowsSent(row), weight);
        rowsExamined.add(backlog.rowsExamined(row), weight);
        rowsAffected = add(rowsAffected, backlog.rowsAffected(row), weight);
        bytesSent = add(bytesSent, backlog.bytesSent(row), weight);
        databases.add(names.name(backlog.database(row)), weight);
        users.add(names.name(backlog.user(row)), weight);
        hosts.add(names.name(backlog.host(row)), weight);
        error(backlog.errorCode(row), weight);
        long micros = backlog.micros(row);
        firstMicros = Math.min(firstMicros, micros);
        lastMicros = Math.max(lastMicros, micros);
        slots.add(Math.floorDiv(micros, MICROS), weight, seconds * weight);
    }

    /** Counts what a server counted of statements like this one, whose weight is their number. */
    void addCounted(QueryEvent event, CountedStatements counted) {
        digest = digest == null ? counted.digest() : digest;
        counted.addTo(this);
        tables.add(event, counted.count());
        databases.add(event.getDatabase(), counted.count());
        firstMicros = Math.min(firstMicros, micros(counted.first()));
        lastMicros = Math.max(lastMicros, micros(counted.last()));
    }

    private static long micros(Instant time) {
        return time.getEpochSecond() * MICROS + time.getNano() / NANOS_PER_MICRO;
    }

    private static LatencyHistogram add(LatencyHistogram buckets, long value, double weight) {
        if (value < 0) {
            return buckets;
        }
        LatencyHistogram counted = buckets == null ? new LatencyHistogram(1) : buckets;
        counted.add(value, weight);
        return counted;
    }

    private void error(int code, double weight) {
        if (StatusOutcome.isFailure(code)) {
            errors += weight;
            errorCodes.add(Integer.toString(code), weight);
        }
    }

    /** Returns whether a statement with this duration would be a better example than the stored one. */
    boolean needsExample(double seconds) {
        return seconds > exampleTime;
    }

    void takeExample(String statement, double seconds) {
        example = statement;
        exampleTime = seconds;
    }

    /** Adds the counts of another group, except for its time slots. */
    void addAll(StatementGroup other) {
        queryTime.addAll(other.queryTime);
        lockTime.addAll(other.lockTime);
        rowsSent.addAll(other.rowsSent);
        rowsExamined.addAll(other.rowsExamined);
        rowsAffected = addAll(rowsAffected, other.rowsAffected);
        bytesSent = addAll(bytesSent, other.bytesSent);
        tables.addAll(other.tables);
        databases.addAll(other.databases);
        users.addAll(other.users);
        hosts.addAll(other.hosts);
        planFlags.addAll(other.planFlags);
        errorCodes.addAll(other.errorCodes);
        errors += other.errors;
        firstMicros = Math.min(firstMicros, other.firstMicros);
        lastMicros = Math.max(lastMicros, other.lastMicros);
    }

    private static LatencyHistogram addAll(LatencyHistogram mine, LatencyHistogram others) {
        if (others == null) {
            return mine;
        }
        LatencyHistogram counted = mine == null ? new LatencyHistogram(1) : mine;
        counted.addAll(others);
        return counted;
    }

    /** Returns the time of the earliest statement; far in the future if there is none. */
    public Instant first() {
        return instant(firstMicros);
    }

    /** Returns the time of the latest statement; far in the past if there is none. */
    public Instant last() {
        return instant(lastMicros);
    }

    private static Instant instant(long micros) {
        return Instant.ofEpochSecond(Math.floorDiv(micros, MICROS), Math.floorMod(micros, MICROS) * NANOS_PER_MICRO);
    }

    public double count() {
        return queryTime.weight();
    }

    /** Returns rows examined per row sent; infinite if none was sent, 0 if none was examined. */
    public double examinedPerSent() {
        return rowsExamined.sum() == 0 ? 0 : rowsExamined.sum() / rowsSent.sum();
    }
}
