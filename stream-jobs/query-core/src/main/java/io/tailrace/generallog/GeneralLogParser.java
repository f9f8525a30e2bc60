package io.tailrace.generallog;

import io.tailrace.audit.record.AuditEventBuilder;
import io.tailrace.event.AuditEvent;
import io.tailrace.fingerprint.StatementSample;
import io.tailrace.flag.EventFlag;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.ParseListener;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.StringPool;
import io.tailrace.time.CivilTime;
import io.tailrace.time.LogTime;
import java.nio.charset.StandardCharsets;

/** Converts an entry of a general log into an {@link AuditEvent}. The log contains commands, but not their outcome. */
final class GeneralLogParser implements EntryParser {

    /** ER_ACCESS_DENIED_ERROR. */
    private static final int ACCESS_DENIED = 1045;

    /** ER_DBACCESS_DENIED_ERROR. */
    private static final int DATABASE_DENIED = 1044;

    static final byte[] TO_DATABASE = ByteText.ascii("' to database '");

    private static final byte[] USING_PASSWORD = ByteText.ascii(" (using password: ");

    private static final int MAX_ARGUMENT_LENGTH = 512;

    private final LogTime times = new LogTime();
    private final StringPool strings = new StringPool();
    private final AuditEventBuilder events = new AuditEventBuilder();
    private final GeneralLine header = new GeneralLine();
    private final ConnectArgument account = new ConnectArgument();

    @Override
    public void parse(LogEntry entry, ParseListener out) {
        byte[] bytes = entry.bytes();
        int lineEnd = ByteText.lineFeed(bytes, entry.from(), entry.to());
        boolean read = header.read(bytes, entry.from(), ByteText.withoutLineEnd(bytes, entry.from(), lineEnd));
        long time = read ? time(entry) : CivilTime.NONE;
        if (time == CivilTime.NONE) {
            out.rejected(DeadLetterCode.MALFORMED_HEADER, "expected a time, a thread id and a command");
            return;
        }
        AuditEvent event = events.blank();
        events.place(event, entry, entry.to(), time);
        event.setFormat(GeneralLogFormat.NAME);
        event.setEventClass(header.command.eventClass());
        event.setCommand(header.command.wireName());
        event.setConnectionId(header.threadId);
        connection(event, entry);
        if (header.command.hasStatement()) {
            AuditEventBuilder.client(event);
            statement(event, bytes, ByteText.withoutLineEnd(bytes, header.argumentFrom, entry.to()), out);
        } else {
            argument(event, bytes);
            AuditEventBuilder.client(event);
            out.audit(event, "", "");
        }
    }

    private long time(LogEntry entry) {
        String zone = entry.origin().zone();
        if (header.hasTime()) {
            return times.micros(entry.bytes(), header.timeFrom, header.timeTo, zone);
        }
        byte[] inherited = entry.context().timeLine().getBytes(StandardCharsets.ISO_8859_1);
        return times.micros(inherited, 0, inherited.length, zone);
    }

    /** Sets the account of the connection from its Connect command. */
    private void connection(AuditEvent event, LogEntry entry) {
        byte[] name = entry.context().account().getBytes(StandardCharsets.ISO_8859_1);
        int at = name.length - 1;
        while (at >= 0 && name[at] != '@') {
            at--;
        }
        if (at >= 0) {
            event.setUser(strings.utf8(name, 0, at));
            event.setHost(strings.utf8(name, at + 1, name.length));
        }
        byte[] database = entry.context().database().getBytes(StandardCharsets.ISO_8859_1);
        event.setDatabase(strings.utf8(database, 0, database.length));
        EventFlag.STATUS_UNKNOWN.addTo(event.getFlags());
        if (database.length > 0 && header.command.hasStatement()) {
            EventFlag.DATABASE_INHERITED.addTo(event.getFlags());
        }
        if (entry.context().loggedIn()) {
            EventFlag.LOGGED_IN.addTo(event.getFlags());
        }
        if (entry.context().forgedHeader()) {
            EventFlag.FORGED_HEADER.addTo(event.getFlags());
        }
        if (entry.context().ambiguous()) {
            EventFlag.FRAMING_AMBIGUOUS.addTo(event.getFlags());
        }
    }

    private void statement(AuditEvent event, byte[] bytes, int to, ParseListener out) {
        int from = Math.min(header.argumentFrom, to);
        String fingerprint = events.classify(event, bytes, from, to, out);
        out.audit(event, fingerprint, StatementSample.of(bytes, from, to));
    }

    private void argument(AuditEvent event, byte[] bytes) {
        int from = header.argumentFrom;
        int to = header.argumentTo;
        switch (header.command) {
            case CONNECT, CHANGE_USER -> connect(event, bytes, from, to);
            case INIT_DB -> database(event, bytes, from, to);
            case FIELD_LIST, CREATE_DB, DROP_DB -> event.setObject(
                    strings.utf8(bytes, from, ByteText.trimBlanks(bytes, from, to)));
            default -> {
                if (to > from) {
                    String text = ByteText.utf8(bytes, from, Math.min(to, from + MAX_ARGUMENT_LENGTH));
                    event.getAttributes().put("argument", text.strip());
                }
            }
        }
    }

    /** {@code shop}, or {@code Access denied for user 'a'@'h' to database 'shop'}. */
    private void database(AuditEvent event, byte[] bytes, int from, int to) {
        int name = ByteText.lastIndexOf(bytes, from, to, TO_DATABASE);
        if (name < 0 || !ByteText.startsWith(bytes, from, to, GeneralLogFramer.DENIED)) {
            event.setDatabase(strings.utf8(bytes, from, to));
            return;
        }
        event.setDatabase(strings.utf8(bytes, name + TO_DATABASE.length, Math.max(to - 1, name + TO_DATABASE.length)));
        event.setStatus(DATABASE_DENIED);
        EventFlag.STATUS_UNKNOWN.removeFrom(event.getFlags());
    }

    private void connect(AuditEvent event, byte[] bytes, int from, int to) {
        if (!account.read(bytes, from, to)) {
            return;
        }
        event.setUser(strings.utf8(bytes, account.userFrom, account.userTo));
        event.setHost(strings.utf8(bytes, account.hostFrom, account.hostTo));
        event.setPrivUser(strings.utf8(bytes, account.asFrom, account.asTo));
        event.setConnectionType(connectionType(strings.utf8(bytes, account.usingFrom, account.usingTo)));
        if (account.denied) {
            usingPassword(event, bytes, from, to);
            event.setStatus(ACCESS_DENIED);
            EventFlag.STATUS_UNKNOWN.removeFrom(event.getFlags());
        }
    }

    /** {@code (using password: NO)} at the end of a refusal. */
    private void usingPassword(AuditEvent event, byte[] bytes, int from, int to) {
        int at = ByteText.lastIndexOf(bytes, from, to, USING_PASSWORD);
        if (at >= 0 && bytes[to - 1] == ')') {
            event.getAttributes().put("using_password", strings.utf8(bytes, at + USING_PASSWORD.length, to - 1));
        }
    }

    private static String connectionType(String using) {
        return switch (using.strip()) {
            case "TCP/IP" -> "tcp";
            case "SSL/TLS" -> "tls";
            case "Socket" -> "socket";
            case "Named Pipe" -> "named_pipe";
            case "Shared Memory" -> "shared_memory";
            default -> "";
        };
    }
}
