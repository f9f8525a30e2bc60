package io.tailrace.audit.record;

import io.tailrace.client.ClientAddress;
import io.tailrace.event.AuditEvent;
import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.fingerprint.NormalizedStatement;
import io.tailrace.fingerprint.OwnAccount;
import io.tailrace.fingerprint.StatementSample;
import io.tailrace.fingerprint.credential.PasswordStatements;
import io.tailrace.flag.EventFlag;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.ParseListener;
import io.tailrace.identity.EventIds;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.StatementScanner;
import io.tailrace.tags.StatementTags;
import io.tailrace.time.CivilTime;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The common part of all parsers of audit events: an event's position and id, its account, tables and statement. It
 * stores the statement of the current record. Not thread-safe.
 */
public final class AuditEventBuilder {

    private static final int MAX_PORT = 65_535;
    /** Classes whose records are no commands, or are written before their result: ADR 0092. */
    private static final Set<String> WITHOUT_STATUS = Set.of("message", "server", "table");

    private final EventIds ids = new EventIds();
    private final Fingerprinter fingerprinter = new Fingerprinter();
    private final StatementScanner scanner = new StatementScanner();
    private byte[] statement = new byte[1024];
    private int statementLength;
    private boolean statusKnown;

    /** Returns an event without values, and clears the statement and the status. */
    public AuditEvent blank() {
        statementLength = 0;
        statusKnown = false;
        AuditEvent event = new AuditEvent();
        event.setEventClass("");
        event.setCommand("");
        event.setCommandClass("");
        event.setUser("");
        event.setPrivUser("");
        event.setProxyUser("");
        event.setOsUser("");
        event.setHost("");
        event.setIp("");
        event.setDatabase("");
        event.setObject("");
        event.setRuleSet("");
        event.setVerb("");
        event.setAttributes(new HashMap<>());
        event.setFlags(new ArrayList<>(1));
        event.setEventName("");
        event.setRecordId("");
        event.setConnectionType("");
        event.setTablesRead(List.of());
        event.setTablesWritten(List.of());
        event.setProgramName("");
        event.setConnectionAttributes(new HashMap<>());
        event.setServerVersion("");
        event.setTablesBasis("");
        event.setTags(Map.of());
        event.setTraceId("");
        event.setSpanId("");
        event.setAccounts(List.of());
        return event;
    }

    /**
     * Sets the fields that depend on the position of the event.
     *
     * @param recordTo index after the record in the entry's bytes; a separator that follows it is not part of its id
     * @param time epoch microseconds
     */
    public void place(AuditEvent event, LogEntry entry, int recordTo, long time) {
        LogEntry record = recordTo == entry.to()
                ? entry
                : new LogEntry(
                        entry.origin(),
                        entry.generation(),
                        entry.offset(),
                        entry.bytes(),
                        entry.from(),
                        recordTo,
                        entry.context());
        event.setEventId(ids.event(record, time));
        event.setCluster(entry.origin().cluster());
        event.setInstance(entry.origin().instance());
        event.setSource(entry.origin().source());
        event.setLog(entry.origin().log());
        event.setGeneration(entry.generation());
        event.setEntryOffset(entry.offset());
        event.setEntryBytes(entry.to() - entry.from());
        event.setEventTime(CivilTime.instant(time));
    }

    /**
     * Sets the database of the connection for a record that names no default database.
     *
     * @param named whether the record has a member for it, which may be empty
     */
    public void inherit(AuditEvent event, EntryContext context, boolean named) {
        boolean open =
                !named && event.getDatabase().isEmpty() && event.getEventClass().equals("query");
        if (open && !context.database().isEmpty()) {
            byte[] raw = context.database().getBytes(StandardCharsets.ISO_8859_1);
            event.setDatabase(ByteText.utf8(raw, 0, raw.length));
            EventFlag.DATABASE_INHERITED.addTo(event.getFlags());
        }
    }

    /** Stores the record's statement until it is reported. */
    public void statement(byte[] bytes, int from, int to) {
        if (statement.length < to - from) {
            statement = new byte[to - from];
        }
        statementLength = to - from;
        System.arraycopy(bytes, from, statement, 0, statementLength);
    }

    /**
     * Sets the server's error code. If the text is not a number, or if no status is set, {@link #report} sets the flag
     * {@code status_unknown}.
     */
    public void status(AuditEvent event, String text) {
        byte[] digits = ByteText.ascii(text);
        long code = ByteText.unsigned(digits, 0, digits.length);
        statusKnown = code >= 0;
        event.setStatus((int) Math.min(Integer.MAX_VALUE, Math.max(0, code)));
    }

    /**
     * Reports the event with its statement's class, and sets a flag on a statement that the writer cut, and on a command
     * without a status.
     */
    public void report(AuditEvent event, ParseListener out) {
        if (!statusKnown && !WITHOUT_STATUS.contains(event.getEventClass())) {
            EventFlag.STATUS_UNKNOWN.addTo(event.getFlags());
        }
        client(event);
        if (namesTables(event)) {
            event.setTablesBasis("log");
        }
        if (statementLength == 0) {
            out.audit(event, "", "");
            return;
        }
        if (event.getStatus() == 0 && isCut() && !EventFlag.TRUNCATED.isIn(event.getFlags())) {
            EventFlag.TRUNCATED.addTo(event.getFlags());
        }
        String fingerprint = classify(event, statement, 0, statementLength, out);
        out.audit(event, fingerprint, StatementSample.of(statement, 0, statementLength));
    }

    /**
     * Sets the class, tables and tags of the event's statement. Tables that the log names take precedence: they are
     * complete and are what the server opened.
     *
     * @param out receives the id by the previous rules
     * @return the fingerprint
     */
    public String classify(AuditEvent event, byte[] bytes, int from, int to, ParseListener out) {
        NormalizedStatement shape = fingerprinter.statement(bytes, from, to);
        if (shape.isRenamed()) {
            out.renamed(fingerprinter.previousId(shape, bytes, from, to));
        }
        event.setQueryId(shape.queryId());
        event.setRuleSet(Fingerprinter.RULE_SET);
        event.setVerb(shape.verb());
        if (!namesTables(event)) {
            event.setTablesRead(shape.tablesRead());
            event.setTablesWritten(shape.tablesWritten());
            event.setTablesBasis(namesTables(event) ? "statement" : "");
            if (!shape.tables().complete()) {
                EventFlag.TABLES_INCOMPLETE.addTo(event.getFlags());
            }
        }
        event.getFlags().addAll(fingerprinter.flags(shape, bytes, from, to));
        if (OwnAccount.isChanged(shape.verb(), event.getUser(), bytes, from, to)) {
            EventFlag.OWN_ACCOUNT.addTo(event.getFlags());
        }
        event.setAccounts(fingerprinter.accounts(shape, bytes, from, to, event.getUser()));
        if (fingerprinter.accountsAreIncomplete()) {
            EventFlag.ACCOUNTS_INCOMPLETE.addTo(event.getFlags());
        }
        StatementTags tags = fingerprinter.tags(bytes);
        event.setTags(tags.tags());
        event.setTraceId(tags.traceId());
        event.setSpanId(tags.spanId());
        return shape.fingerprint();
    }

    /** Normalizes the client's host, address and port, whichever field of the log contains them. */
    public static void client(AuditEvent event) {
        ClientAddress client = ClientAddress.of(event.getHost(), event.getIp());
        boolean local = client.host().isEmpty()
                && client.address().isEmpty()
                && event.getConnectionType().equals("socket");
        event.setHost(local ? "localhost" : client.host());
        event.setIp(client.address());
        event.setPort(client.port() > 0 ? client.port() : event.getPort());
    }

    private static boolean namesTables(AuditEvent event) {
        return !event.getTablesRead().isEmpty() || !event.getTablesWritten().isEmpty();
    }

    /** Returns whether the statement ends within a literal or comment: if the server accepted it, the plugin cut it. */
    private boolean isCut() {
        scanner.reset();
        int i = 0;
        while (i < statementLength) {
            int end = ByteText.lineFeed(statement, i, statementLength);
            scanner.line(statement, i, end);
            i = end + 1;
        }
        return scanner.insideLiteral();
    }

    /**
     * Parses {@code priv_user[user] @ host [ip]}, as the server writes the user of a statement; otherwise stores the
     * name alone. If the record has the host, too, it may be any text.
     */
    public static void account(AuditEvent event, String user) {
        boolean odd = event.getHost().contains("]") || event.getIp().contains("]");
        String written = odd ? "] @ " + event.getHost() + " [" + event.getIp() + ']' : "";
        int at = odd && user.endsWith(written) ? user.length() - written.length() : user.lastIndexOf("] @ ");
        if (at < 0 || !user.endsWith("]")) {
            event.setUser(user);
            return;
        }
        String names = user.substring(0, at);
        int half = (names.length() - 1) / 2;
        boolean equalNames =
                names.length() % 2 == 1 && names.charAt(half) == '[' && names.regionMatches(0, names, half + 1, half);
        int split = equalNames ? half : names.indexOf('[');
        event.setUser(names.substring(split + 1));
        if (event.getPrivUser().isEmpty()) {
            event.setPrivUser(split < 0 ? "" : names.substring(0, split));
        }
        from(event, user.substring(at + "] @ ".length(), user.length() - 1));
    }

    /** Parses {@code host [ip}; the record's members for them take precedence. */
    private static void from(AuditEvent event, String written) {
        int bracket = written.lastIndexOf('[');
        if (event.getHost().isEmpty()) {
            event.setHost(written.substring(0, Math.max(bracket, 0)).strip());
        }
        if (event.getIp().isEmpty()) {
            event.setIp(written.substring(bracket + 1));
        }
    }

    /** Adds an attribute if it has a value. */
    public static void attribute(AuditEvent event, String name, String value) {
        if (!value.isEmpty()) {
            event.getAttributes().put(name, value);
        }
    }

    /** Adds start options, except those that may contain a password. */
    public static void options(AuditEvent event, String name, String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        attribute(event, name, PasswordStatements.mayHold(bytes, 0, bytes.length) ? "?" : value);
    }

    public static void connectionAttribute(AuditEvent event, String name, String value) {
        event.getConnectionAttributes().put(name, value);
        if ("program_name".equals(name)) {
            event.setProgramName(value);
        }
    }

    /** Makes the one table that a record is about its object; without a table changes nothing. */
    public static void table(AuditEvent event, String table, boolean isRead) {
        if (table.isEmpty()) {
            return;
        }
        event.setObject(table);
        if (isRead) {
            tableRead(event, event.getDatabase(), table);
        } else {
            tableWritten(event, event.getDatabase(), table);
        }
    }

    /** Notes the name of a member that is not known. Its value may hold a literal and is left out. */
    public static void unknownMember(AuditEvent event, String name) {
        event.getAttributes().merge("unknown_members", name, (others, one) -> others + ',' + one);
    }

    public static void tableRead(AuditEvent event, String database, String table) {
        event.setTablesRead(with(event.getTablesRead(), database, table));
    }

    public static void tableWritten(AuditEvent event, String database, String table) {
        event.setTablesWritten(with(event.getTablesWritten(), database, table));
    }

    private static List<String> with(List<String> tables, String database, String table) {
        String name = database.isEmpty() ? table : database + '.' + table;
        if (name.isEmpty() || tables.contains(name)) {
            return tables;
        }
        List<String> more = new ArrayList<>(tables);
        more.add(name);
        return more;
    }

    /**
     * Returns the normalized kind of a connection, because each writer uses different names; empty if it is unknown.
     */
    public static String connectionType(String written) {
        return switch (written.toLowerCase(Locale.ROOT)) {
            case "tcp/ip", "tcp/tcp", "tcp" -> "tcp";
            case "ssl/tls", "ssl", "tls" -> "tls";
            case "socket" -> "socket";
            case "named pipe", "named_pipe" -> "named_pipe";
            case "shared memory", "shared_memory" -> "shared_memory";
            default -> "";
        };
    }

    /** Parses an unsigned number; returns 0 if the text is not one. */
    public static long number(String text) {
        byte[] digits = ByteText.ascii(text);
        return Math.max(0, ByteText.unsigned(digits, 0, digits.length));
    }

    /** Parses a TCP port; returns 0 if the text is not one. */
    public static int port(String text) {
        long port = number(text);
        return port > MAX_PORT ? 0 : (int) port;
    }

    /** Returns the index after the last byte that is neither blank nor the comma that separates records. */
    public static int withoutSeparator(byte[] bytes, int from, int to) {
        int end = ByteText.trimBlanks(bytes, from, to);
        return end > from && bytes[end - 1] == ',' ? ByteText.trimBlanks(bytes, from, end - 1) : end;
    }
}
