package io.tailrace.audit.mariadb;

import io.tailrace.audit.record.AuditEventBuilder;
import io.tailrace.event.AuditEvent;
import io.tailrace.flag.EventFlag;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.ParseListener;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.StringPool;
import java.time.InstantSource;

/**
 * Converts a line of MariaDB's server_audit plugin, or of Amazon's variants of it, into an {@link AuditEvent}. The
 * variants differ in the time before the record and in how a long statement is cut.
 */
public final class MariaDbAuditParser implements EntryParser {

    /** Default of server_audit_query_log_limit: the plugin cuts a statement, escapes included, near this many bytes. */
    private static final int QUERY_LOG_LIMIT = 1024;

    private static final int LOWEST_OTHER_LIMIT = 2000;

    /** The plugin does not split escapes, so a cut statement may be shorter by this many bytes. */
    private static final int MAX_ESCAPE_LENGTH = 2;

    private final MariaDbTime time;
    private final MariaDbRecord record = new MariaDbRecord();
    private final StringPool strings = new StringPool();
    private final AuditEventBuilder events = new AuditEventBuilder();
    private byte[] statement = new byte[QUERY_LOG_LIMIT];

    private MariaDbAuditParser(MariaDbTime time) {
        this.time = time;
    }

    /** Creates a parser for output type FILE: {@code 20261121 02:44:18,}, local time. */
    public static MariaDbAuditParser ofFile() {
        return new MariaDbAuditParser(new MariaDbTime.Local());
    }

    /** Creates a parser for Aurora MySQL: {@code 1767323046000123,}, microseconds. */
    public static MariaDbAuditParser ofAurora() {
        return new MariaDbAuditParser(new MariaDbTime.Micros());
    }

    /** Creates a parser for output type SYSLOG: the daemon's time, which may lack its year. */
    public static MariaDbAuditParser ofSyslog(InstantSource now) {
        return new MariaDbAuditParser(new MariaDbTime.Syslog(now));
    }

    @Override
    public void parse(LogEntry entry, ParseListener out) {
        byte[] bytes = entry.bytes();
        int end = ByteText.withoutLineEnd(bytes, entry.from(), entry.to());
        int from = time.read(bytes, entry.from(), end, entry.origin().zone());
        if (from < 0) {
            out.rejected(code(entry), "expected " + time.shape() + " at the line's start");
        } else if (record.readStrictly(bytes, from, end)) {
            event(entry, false, out);
        } else if (mayBeCut(entry) && record.readCut(bytes, from, end)) {
            event(entry, true, out);
        } else if (record.read(bytes, from, end)) {
            event(entry, false, out);
        } else if (record.readCut(bytes, from, end)) {
            out.rejected(DeadLetterCode.INCOMPLETE, "expected the statement's closing quote and a code");
        } else {
            out.rejected(
                    code(entry), "expected time,serverhost,user,host,connection,query,operation,database,object,code");
        }
    }

    private static DeadLetterCode code(LogEntry entry) {
        return isWhole(entry) ? DeadLetterCode.MALFORMED_RECORD : DeadLetterCode.INCOMPLETE;
    }

    /** Returns whether the line has a line feed; without one it is the last line, and its rest is missing. */
    private static boolean isWhole(LogEntry entry) {
        return entry.to() > entry.from() && entry.bytes()[entry.to() - 1] == '\n';
    }

    /** Aurora and system logs cut long lines with all that follows the statement; elsewhere the writer crashed. */
    private boolean mayBeCut(LogEntry entry) {
        return time.cutsLines() && isWhole(entry);
    }

    private void event(LogEntry entry, boolean cut, ParseListener out) {
        byte[] bytes = entry.bytes();
        AuditEvent event = events.blank();
        event.setFormat(time.format());
        event.setEventClass(record.operation.eventClass());
        event.setCommand(record.operation.name());
        event.setUser(strings.utf8(bytes, record.userFrom, record.userTo));
        event.setHost(strings.utf8(bytes, record.hostFrom, record.hostTo));
        event.setConnectionId(ByteText.unsigned(bytes, record.connectionFrom, record.connectionTo));
        event.setServerQueryId(ByteText.unsigned(bytes, record.queryFrom, record.queryTo));
        event.setDatabase(strings.utf8(bytes, record.databaseFrom, record.databaseTo));
        events.status(event, strings.utf8(bytes, record.codeFrom, record.codeTo));
        serverHost(event, strings.utf8(bytes, record.serverHostFrom, record.serverHostTo));
        column11(event, strings.utf8(bytes, record.moreFrom, record.moreTo));
        if (record.ambiguous) {
            EventFlag.USER_AMBIGUOUS.addTo(event.getFlags());
        }
        if (time.isYearInferred()) {
            EventFlag.YEAR_INFERRED.addTo(event.getFlags());
        }
        if (record.operation.hasStatement()) {
            statement(event, bytes, cut);
        } else {
            object(event, strings.utf8(bytes, record.objectFrom, record.objectTo));
        }
        events.place(event, entry, entry.to(), time.micros());
        events.report(event, out);
    }

    /** Reads what the system log contains before the host: the value of server_audit_syslog_info. */
    private static void serverHost(AuditEvent event, String text) {
        int blank = text.lastIndexOf(' ');
        AuditEventBuilder.attribute(event, "serverhost", text.substring(blank + 1));
        AuditEventBuilder.attribute(
                event, "syslog_info", text.substring(0, Math.max(blank, 0)).strip());
    }

    /** Reads the kind of the connection, which RDS adds to CONNECT rows. */
    private static void column11(AuditEvent event, String value) {
        event.setConnectionType(AuditEventBuilder.connectionType(value));
        if (event.getConnectionType().isEmpty()) {
            AuditEventBuilder.attribute(event, "column_11", value);
        }
    }

    private void object(AuditEvent event, String object) {
        event.setObject(object);
        switch (record.operation) {
            case READ -> AuditEventBuilder.tableRead(event, event.getDatabase(), object);
            case RENAME -> {
                int bar = object.indexOf('|');
                AuditEventBuilder.tableWritten(event, event.getDatabase(), bar < 0 ? object : object.substring(0, bar));
                AuditEventBuilder.tableWritten(event, "", bar < 0 ? "" : object.substring(bar + 1));
            }
            case WRITE, CREATE, ALTER, DROP -> AuditEventBuilder.tableWritten(event, event.getDatabase(), object);
            case PROXY_CONNECT -> event.setProxyUser(object);
            default -> {}
        }
    }

    private void statement(AuditEvent event, byte[] bytes, boolean cut) {
        int escaped = record.objectTo - record.objectFrom;
        int length = unescape(bytes, record.objectFrom, record.objectTo);
        if (cut || time.limitsStatements() && mayBeCut(escaped)) {
            EventFlag.TRUNCATED.addTo(event.getFlags());
        }
        events.statement(statement, 0, length);
    }

    /**
     * Returns whether a statement of this length, with its escapes, ends at a limit. The log does not contain the limit,
     * so above the default the usual ones count: multiples of 1000 and of 1024, and numbers such as 65535.
     */
    static boolean mayBeCut(int escaped) {
        if (escaped <= QUERY_LOG_LIMIT) {
            return escaped >= QUERY_LOG_LIMIT - MAX_ESCAPE_LENGTH;
        }
        if (escaped < LOWEST_OTHER_LIMIT - 1) {
            return false;
        }
        for (int limit = escaped; limit <= escaped + 1; limit++) {
            boolean largest = (limit & limit + 1) == 0;
            if (limit % 1000 == 0 || limit % 1024 == 0 || largest) {
                return true;
            }
        }
        return false;
    }

    /** Decodes the plugin's escapes into {@link #statement}; returns its length. */
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
