package io.tailrace.audit;

import io.tailrace.event.AuditEvent;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.ParseListener;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.StringPool;
import io.tailrace.time.CivilTime;
import java.util.HashMap;
import java.util.Map;

/**
 * Makes an {@link AuditEvent} of a line of Percona's audit_log plugin, {@code audit_log_format=JSON}, of Percona
 * Server and XtraDB Cluster 5.6 to 8.0. Timestamps are UTC.
 */
final class PerconaJsonParser implements EntryParser {

    private final JsonRecord record = new JsonRecord();
    private final StringPool strings = new StringPool();
    private final AuditEvents events = new AuditEvents();
    private final Map<String, String> members = new HashMap<>();
    private byte[] statement = new byte[1024];
    private int statementLength;
    private long time;

    @Override
    public void parse(LogEntry entry, ParseListener out) {
        int end = ByteText.withoutLineEnd(entry.bytes(), entry.from(), entry.to());
        if (!read(entry.bytes(), entry.from(), end)) {
            out.rejected(DeadLetterCode.MALFORMED_RECORD, "expected one JSON object {\"audit_record\":{…}} per line");
        } else if (time == CivilTime.NONE) {
            out.rejected(DeadLetterCode.MALFORMED_RECORD, "expected a timestamp YYYY-MM-DDTHH:MM:SS UTC");
        } else if (!members.containsKey("name")) {
            out.rejected(DeadLetterCode.MALFORMED_RECORD, "expected a member \"name\", found none");
        } else {
            event(entry, out);
        }
    }

    private boolean read(byte[] bytes, int from, int end) {
        members.clear();
        statementLength = -1;
        time = CivilTime.NONE;
        if (!record.open(bytes, from, end)) {
            return false;
        }
        while (!record.atEnd()) {
            if (!record.member()) {
                return false;
            }
            member();
        }
        return record.close();
    }

    private void member() {
        switch (record.key) {
            case "sqltext" -> keepStatement();
            case "timestamp" -> time = CivilTime.isoSecond(record.text, 0, record.length);
            default -> members.put(record.key, strings.utf8(record.text, 0, record.length));
        }
    }

    private void keepStatement() {
        if (statement.length < record.length) {
            statement = new byte[record.length];
        }
        System.arraycopy(record.text, 0, statement, 0, record.length);
        statementLength = record.length;
    }

    private void event(LogEntry entry, ParseListener out) {
        AuditEvent event = events.at(entry, PerconaJsonFormat.NAME, time);
        String name = take("name");
        event.setCommand(name);
        event.setEventClass(eventClass(name));
        event.setCommandClass(take("command_class"));
        event.setStatus((int) number(take("status")));
        event.setConnectionId(number(take("connection_id")));
        account(event, take("user"));
        String privileged = take("priv_user");
        event.setPrivUser(privileged.isEmpty() ? event.getPrivUser() : privileged);
        event.setProxyUser(take("proxy_user"));
        event.setOsUser(take("os_user") + take("os_login"));
        event.setHost(take("host"));
        event.setIp(take("ip"));
        event.setDatabase(take("db"));
        event.getAttributes().putAll(members);
        if (record.repaired) {
            event.getFlags().add("repaired");
        }
        statement(event, out);
    }

    private String take(String key) {
        String value = members.remove(key);
        return value == null ? "" : value;
    }

    private static long number(String text) {
        byte[] digits = ByteText.ascii(text);
        return Math.max(0, ByteText.unsigned(digits, 0, digits.length));
    }

    private static String eventClass(String name) {
        return switch (name) {
            case "Connect", "Quit", "Change user", "Ping", "Init DB", "Reset Connection" -> "connection";
            case "Audit", "NoAudit" -> "server";
            default -> "query";
        };
    }

    /** A query's user is {@code priv_user[user] @ host [ip]}; a connection's is the name alone. */
    private void account(AuditEvent event, String user) {
        int at = user.lastIndexOf("] @ ");
        if (at < 0 || !user.endsWith("]")) {
            event.setUser(user);
            return;
        }
        String names = user.substring(0, at);
        int half = (names.length() - 1) / 2;
        boolean equalNames = names.length() % 2 == 1
                && names.charAt(half) == '['
                && names.regionMatches(0, names, half + 1, half);
        int split = equalNames ? half : names.indexOf('[');
        event.setUser(names.substring(split + 1));
        event.setPrivUser(split < 0 ? "" : names.substring(0, split));
    }

    private void statement(AuditEvent event, ParseListener out) {
        if (statementLength <= 0) {
            out.audit(event, "", "");
            return;
        }
        if (event.getStatus() == 0 && events.isCut(statement, statementLength)) {
            event.getFlags().add("truncated");
        }
        String fingerprint = events.classify(event, statement, statementLength);
        out.audit(event, fingerprint, AuditEvents.sample(statement, statementLength));
    }
}
