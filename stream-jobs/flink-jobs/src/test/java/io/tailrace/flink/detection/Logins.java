package io.tailrace.flink.detection;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.EventId;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Creates refused logins and statements for tests, adjacent entries of 100 bytes. */
public final class Logins {

    /** Fields of texts that the log does not contain. */
    private static final List<String> EMPTY = List.of(
            "priv_user",
            "proxy_user",
            "os_user",
            "ip",
            "database",
            "object",
            "rule_set",
            "verb",
            "event_name",
            "record_id",
            "connection_type",
            "program_name",
            "server_version",
            "tables_basis",
            "trace_id",
            "span_id",
            "fingerprint");

    static final int ENTRY_BYTES = 100;

    private Logins() {}

    /** Returns {@code SELECT id FROM …} in the database shop. */
    public static AuditEvent statement(String instance, long number, Instant time, String table) {
        AuditEvent event = refused(instance, "app", number, time);
        event.setEventClass("query");
        event.setCommand("QUERY");
        event.setStatus(0);
        event.setDatabase("shop");
        event.setVerb("SELECT");
        event.setQueryId((long) table.hashCode());
        event.setFingerprint("select id from " + table);
        event.setTablesRead(List.of(table));
        event.setTablesBasis("statement");
        return event;
    }

    public static AuditEvent refused(String instance, String user, long number, Instant time) {
        AuditEvent event = new AuditEvent();
        event.setEventId(new EventId(ByteBuffer.allocate(16)
                .putLong(instance.hashCode())
                .putLong(number)
                .array()));
        event.setCluster("shop");
        event.setInstance(instance);
        event.setSource("audit");
        event.setLog("/audit.log");
        event.setGeneration(1);
        event.setEntryOffset(number * ENTRY_BYTES);
        event.setEntryBytes(ENTRY_BYTES);
        event.setFormat("mariadb-audit");
        event.setEventTime(time);
        event.setEventClass("connection");
        event.setCommand("FAILED_CONNECT");
        event.setCommandClass("");
        event.setStatus(1045);
        event.setConnectionId(number + 1);
        event.setUser(user);
        event.setHost("10.0.0.9");
        for (String empty : EMPTY) {
            event.put(event.getSchema().getField(empty).pos(), "");
        }
        event.setAttributes(Map.of());
        event.setFlags(List.of());
        event.setTablesRead(List.of());
        event.setTablesWritten(List.of());
        event.setConnectionAttributes(Map.of());
        event.setTags(Map.of());
        event.setAccounts(List.of());
        return event;
    }
}
