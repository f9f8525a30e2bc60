package io.tailrace.slowlog;

import io.tailrace.event.QueryEvent;
import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.fingerprint.NormalizedStatement;
import io.tailrace.fingerprint.PasswordStatements;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryDetail;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.ParseListener;
import io.tailrace.identity.EventIds;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.StringPool;
import io.tailrace.tags.StatementTags;
import io.tailrace.time.CivilTime;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Converts an entry of a slow log into a {@link QueryEvent}. */
final class SlowLogParser implements EntryParser {

    /** Longest statement that the listener receives, bytes. */
    private static final int MAX_SAMPLE_LENGTH = 64 << 10;

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
    private final boolean full;
    private final SlowLogHeader header;
    private final SlowLogTime times = new SlowLogTime();
    private final Fingerprinter fingerprinter = new Fingerprinter();
    private final EventIds ids = new EventIds();
    /** Flags of the current entry. */
    private List<String> flags = List.of();

    private String lastTimeLine = "";
    private String lastZone = "";
    private long lastHint;
    private long lastTime = CivilTime.NONE;

    SlowLogParser(EntryDetail detail) {
        full = detail == EntryDetail.FULL;
        header = new SlowLogHeader(strings, detail);
    }

    @Override
    public void parse(LogEntry entry, ParseListener out) {
        header.read(entry.bytes(), entry.from(), entry.to());
        if (!header.hasQueryTime) {
            out.rejected(DeadLetterCode.MALFORMED_HEADER, "expected Query_time in the header, found none");
            return;
        }
        flags = List.of();
        long time = time(entry);
        if (time == CivilTime.NONE) {
            out.rejected(
                    DeadLetterCode.MALFORMED_HEADER,
                    "expected a time in # Time, SET timestamp or an earlier header, found none");
            return;
        }
        event(entry, time, out);
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
        flag("time_inherited");
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
            flag("zone_doubtful");
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

    private void event(LogEntry entry, long time, ParseListener out) {
        NormalizedStatement shape = shape(entry.bytes());
        QueryEvent event = new QueryEvent();
        origin(event, entry, time);
        server(event);
        event.setDatabase(database(entry));
        event.setQueryId(shape.queryId());
        event.setRuleSet(Fingerprinter.RULE_SET);
        event.setVerb(shape.verb());
        tables(event, shape);
        tags(event, fingerprinter.tags(entry.bytes()));
        fingerprinter
                .flags(shape, entry.bytes(), header.statementFrom, header.statementTo)
                .forEach(this::flag);
        event.setAccounts(fingerprinter.accounts(
                shape, entry.bytes(), header.statementFrom, header.statementTo, event.getUser()));
        if (fingerprinter.accountsAreIncomplete()) {
            flag(Fingerprinter.ACCOUNTS_INCOMPLETE);
        }
        if (header.overflow) {
            flag("time_overflow");
        }
        if (entry.context().forgedHeader()) {
            flag("forged_header");
        }
        if (entry.context().ambiguous()) {
            flag("framing_ambiguous");
        }
        event.setFlags(flags);
        if (shape.isRenamed()) {
            out.renamed(fingerprinter.previousId(shape, entry.bytes(), header.statementFrom, header.statementTo));
        }
        out.query(event, shape.fingerprint(), out.needsStatement(event) ? sample(entry.bytes()) : "");
    }

    private void tables(QueryEvent event, NormalizedStatement shape) {
        event.setTablesRead(shape.tablesRead());
        event.setTablesWritten(shape.tablesWritten());
        if (!shape.tables().complete()) {
            flag("tables_incomplete");
        }
    }

    private static void tags(QueryEvent event, StatementTags tags) {
        event.setTags(tags.tags());
        event.setTraceId(tags.traceId());
        event.setSpanId(tags.spanId());
    }

    private void flag(String name) {
        flags = flags.isEmpty() ? new ArrayList<>(2) : flags;
        flags.add(name);
    }

    private NormalizedStatement shape(byte[] bytes) {
        return header.administratorCommand
                ? fingerprinter.administratorCommand(bytes, header.statementFrom, header.statementTo)
                : fingerprinter.statement(bytes, header.statementFrom, header.statementTo);
    }

    private void origin(QueryEvent event, LogEntry entry, long time) {
        if (full) {
            event.setEventId(ids.event(entry, time));
        }
        event.setCluster(entry.origin().cluster());
        event.setInstance(entry.origin().instance());
        event.setSource(entry.origin().source());
        event.setLog(entry.origin().log());
        event.setGeneration(entry.generation());
        event.setEntryOffset(entry.offset());
        event.setEntryBytes(entry.to() - entry.from());
        event.setFormat(SlowLogFormat.NAME);
        event.setEventTime(CivilTime.instant(time));
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
        event.setPlanHash("");
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
        flag("database_inherited");
        byte[] bytes = inherited.getBytes(StandardCharsets.ISO_8859_1);
        return strings.utf8(bytes, 0, bytes.length);
    }

    private String sample(byte[] bytes) {
        int from = header.statementFrom;
        int to = header.statementTo;
        if (PasswordStatements.mayHold(bytes, from, to)) {
            return "";
        }
        return ByteText.utf8(bytes, from, Math.min(to, from + MAX_SAMPLE_LENGTH));
    }
}
