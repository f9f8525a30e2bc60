package io.tailrace.audit;

import io.tailrace.event.AuditEvent;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.ParseListener;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.StringPool;
import io.tailrace.time.CivilTime;
import io.tailrace.time.LocalClock;

/** Makes an {@link AuditEvent} of a line of MariaDB's server_audit plugin. */
final class MariaDbAuditParser implements EntryParser {

    /** server_audit_query_log_limit: the plugin cuts a statement, escapes included, near this many bytes. */
    private static final int QUERY_LOG_LIMIT = 1024;

    /** Escapes are not split, so a cut statement may be so much shorter. */
    private static final int LONGEST_ESCAPE = 2;

    private final MariaDbRecord record = new MariaDbRecord();
    private final StringPool strings = new StringPool();
    private final LocalClock clock = new LocalClock();
    private final AuditEvents events = new AuditEvents();
    private byte[] statement = new byte[QUERY_LOG_LIMIT];

    @Override
    public void parse(LogEntry entry, ParseListener out) {
        byte[] bytes = entry.bytes();
        int end = ByteText.withoutLineEnd(bytes, entry.from(), entry.to());
        long local = time(bytes, entry.from(), end);
        if (local == CivilTime.NONE) {
            out.rejected(DeadLetterCode.MALFORMED_RECORD, "expected YYYYMMDD HH:MM:SS at the line's start");
        } else if (!record.read(bytes, entry.from(), end)) {
            out.rejected(DeadLetterCode.MALFORMED_RECORD,
                    "expected time,serverhost,user,host,connection,query,operation,database,object,code");
        } else {
            event(entry, clock.utc(entry.origin().zone(), local, 0), out);
        }
    }

    private static long time(byte[] bytes, int from, int to) {
        if (to - from < 17 || bytes[from + 8] != ' ' || bytes[from + 11] != ':' || bytes[from + 14] != ':') {
            return CivilTime.NONE;
        }
        return CivilTime.epochSecond(
                CivilTime.number(bytes, from, 4), CivilTime.number(bytes, from + 4, 2),
                CivilTime.number(bytes, from + 6, 2), CivilTime.number(bytes, from + 9, 2),
                CivilTime.number(bytes, from + 12, 2), CivilTime.number(bytes, from + 15, 2));
    }

    private void event(LogEntry entry, long epochSecond, ParseListener out) {
        byte[] bytes = entry.bytes();
        AuditEvent event = events.at(entry, MariaDbAuditFormat.NAME, epochSecond);
        event.setEventClass(record.operation.eventClass());
        event.setCommand(record.operation.name());
        event.setUser(strings.utf8(bytes, record.userFrom, record.userTo));
        event.setHost(strings.utf8(bytes, record.hostFrom, record.hostTo));
        event.setConnectionId(ByteText.unsigned(bytes, record.connectionFrom, record.connectionTo));
        event.setServerQueryId(ByteText.unsigned(bytes, record.queryFrom, record.queryTo));
        event.setDatabase(strings.utf8(bytes, record.databaseFrom, record.databaseTo));
        event.setStatus(status(bytes));
        attribute(event, "serverhost", strings.utf8(bytes, record.serverHostFrom, record.serverHostTo));
        attribute(event, "column_11", strings.utf8(bytes, record.moreFrom, record.moreTo));
        if (record.ambiguous) {
            event.getFlags().add("user_ambiguous");
        }
        if (record.operation.hasStatement()) {
            statement(event, bytes, out);
        } else {
            event.setObject(strings.utf8(bytes, record.objectFrom, record.objectTo));
            out.audit(event, "", "");
        }
    }

    /** READ and WRITE rows end with an empty code. */
    private int status(byte[] bytes) {
        long code = ByteText.unsigned(bytes, record.codeFrom, record.codeTo);
        return code < 0 || code > Integer.MAX_VALUE ? 0 : (int) code;
    }

    private static void attribute(AuditEvent event, String name, String value) {
        if (!value.isEmpty()) {
            event.getAttributes().put(name, value);
        }
    }

    private void statement(AuditEvent event, byte[] bytes, ParseListener out) {
        int escaped = record.objectTo - record.objectFrom;
        int length = unescape(bytes, record.objectFrom, record.objectTo);
        boolean atLimit = escaped >= QUERY_LOG_LIMIT - LONGEST_ESCAPE && escaped <= QUERY_LOG_LIMIT;
        if (atLimit || event.getStatus() == 0 && events.isCut(statement, length)) {
            event.getFlags().add("truncated");
        }
        String fingerprint = events.classify(event, statement, length);
        out.audit(event, fingerprint, AuditEvents.sample(statement, length));
    }

    /** Undoes the plugin's escapes into {@link #statement}; returns its length. */
    private int unescape(byte[] bytes, int from, int to) {
        if (statement.length < to - from) {
            statement = new byte[to - from];
        }
        int length = 0;
        for (int i = from; i < to; i++) {
            byte b = bytes[i];
            if (b == '\\' && i + 1 < to) {
                b = switch (bytes[++i]) {
                    case 'n' -> '\n';
                    case 'r' -> '\r';
                    case 't' -> '\t';
                    case 'b' -> '\b';
                    case 'f' -> '\f';
                    default -> bytes[i];
                };
            }
            statement[length++] = b;
        }
        return length;
    }
}
