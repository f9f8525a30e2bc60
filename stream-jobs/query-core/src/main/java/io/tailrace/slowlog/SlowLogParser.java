package io.tailrace.slowlog;

import io.tailrace.event.QueryEvent;
import io.tailrace.flag.EventFlag;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryDetail;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.ParseListener;
import io.tailrace.lexer.StringPool;
import io.tailrace.query.QueryEventBuilder;
import io.tailrace.time.CivilTime;
import java.nio.charset.StandardCharsets;

/** Converts an entry of a slow log into a {@link QueryEvent}. */
final class SlowLogParser implements EntryParser {

    /**
     * Maximum difference of SET timestamp from the last time header, seconds: a wrong zone of the log's local times
     * explains this much, in addition to the statement's duration.
     */
    private static final long MAX_DIFFERENCE = 26 * 3_600;

    /** Time zones differ by multiples of this, seconds. The header and SET timestamp otherwise differ little. */
    private static final long ZONE_STEP = 15 * 60;

    /** Tolerance for rounding and for the delay between the statement's end and the header, seconds. */
    private static final double ZONE_SLACK = 2;

    private final StringPool strings = new StringPool();
    private final SlowLogHeader header;
    private final SlowLogTime times = new SlowLogTime();
    private final QueryEventBuilder events;

    private String lastTimeLine = "";
    private String lastZone = "";
    private long lastHint;
    private long lastTime = CivilTime.NONE;

    SlowLogParser(EntryDetail detail) {
        events = new QueryEventBuilder(SlowLogFormat.NAME, detail);
        header = new SlowLogHeader(strings, detail);
    }

    @Override
    public void parse(LogEntry entry, ParseListener out) {
        header.read(entry.bytes(), entry.from(), entry.to());
        if (!header.hasQueryTime) {
            out.rejected(DeadLetterCode.MALFORMED_HEADER, "expected Query_time in the header, found none");
            return;
        }
        QueryEvent event = events.blank();
        long time = time(entry);
        if (time == CivilTime.NONE) {
            out.rejected(
                    DeadLetterCode.MALFORMED_HEADER,
                    "expected a time in # Time, SET timestamp or an earlier header, found none");
            return;
        }
        events.place(event, entry, time);
        report(event, entry, out);
    }

    private long time(LogEntry entry) {
        String zone = entry.origin().zone();
        if (header.hasTime) {
            long own = times.micros(entry.bytes(), header.timeFrom, header.timeTo, zone, header.timestamp);
            if (own != CivilTime.NONE) {
                checkZone(own);
                return own;
            }
        }
        long inherited = inheritedTime(entry, zone);
        if (header.timestamp > 0 && (inherited == CivilTime.NONE || agrees(inherited))) {
            return header.timestamp * 1_000_000;
        }
        events.flag(EventFlag.TIME_INHERITED);
        return inherited;
    }

    /**
     * Checks the configured zone of the log. Local times are read in that zone, but SET timestamp is always in UTC.
     * If they differ by as much as two zones can, the log's zone is probably another one.
     */
    private void checkZone(long micros) {
        if (header.timestamp <= 0 || !times.isLocal()) {
            return;
        }
        double apart = micros / 1e6 - header.timestamp;
        long steps = Math.round((apart - header.queryTime / 2) / ZONE_STEP);
        double rest = apart - steps * ZONE_STEP;
        boolean near = rest >= -ZONE_SLACK && rest <= header.queryTime + ZONE_SLACK;
        if (steps != 0 && near && Math.abs(apart) <= MAX_DIFFERENCE) {
            events.flag(EventFlag.ZONE_DOUBTFUL);
        }
    }

    /** Returns the time of the last time header, which often applies to many entries. */
    private long inheritedTime(LogEntry entry, String zone) {
        String line = entry.context().timeLine();
        if (line.isEmpty()) {
            return CivilTime.NONE;
        }
        if (header.timestamp != lastHint || !line.equals(lastTimeLine) || !zone.equals(lastZone)) {
            byte[] bytes = line.getBytes(StandardCharsets.ISO_8859_1);
            lastTime = times.micros(bytes, 0, bytes.length, zone, header.timestamp);
            lastTimeLine = line;
            lastZone = zone;
            lastHint = header.timestamp;
        }
        return lastTime;
    }

    /**
     * Returns whether SET timestamp agrees with the time header. A client can set its session's timestamp to any
     * time, but not the server's header.
     */
    private boolean agrees(long inherited) {
        return Math.abs(inherited / 1_000_000 - header.timestamp) <= MAX_DIFFERENCE + header.queryTime;
    }

    private void report(QueryEvent event, LogEntry entry, ParseListener out) {
        byte[] bytes = entry.bytes();
        int from = header.statementFrom;
        int to = header.statementTo;
        server(event);
        event.setDatabase(database(entry));
        String fingerprint = header.administratorCommand
                ? events.classifyCommand(event, bytes, from, to, out)
                : events.classify(event, entry.context(), bytes, from, to, out);
        if (header.overflow) {
            events.flag(EventFlag.TIME_OVERFLOW);
        }
        events.report(event, fingerprint, entry.context(), bytes, from, to, out);
    }

    private void server(QueryEvent event) {
        UserHost names = header.userHost;
        event.setConnectionId(header.threadId != 0 ? header.threadId : names.connectionId);
        event.setUser(names.user);
        event.setHost(names.host);
        event.setIp(names.ip);
        if (!names.privilegedUser.isEmpty()) {
            header.attribute("priv_user", names.privilegedUser);
        }
        event.setQueryTime(header.queryTime);
        event.setLockTime(header.lockTime);
        event.setRowsSent(header.rowsSent);
        event.setRowsExamined(header.rowsExamined);
        event.setRowsAffected(header.rowsAffected);
        event.setBytesSent(header.bytesSent);
        event.setErrorCode(header.errorCode);
        event.setWeight(header.weight);
        event.setPlanFlags(header.planFlags);
        event.setExplain(header.explain());
        event.setAttributes(header.attributes);
    }

    private String database(LogEntry entry) {
        if (header.hasSchema) {
            return header.schema;
        }
        if (header.hasDatabase) {
            return header.database;
        }
        String inherited = entry.context().database();
        if (inherited.isEmpty()) {
            return "";
        }
        events.flag(EventFlag.DATABASE_INHERITED);
        byte[] bytes = inherited.getBytes(StandardCharsets.ISO_8859_1);
        return strings.utf8(bytes, 0, bytes.length);
    }
}
