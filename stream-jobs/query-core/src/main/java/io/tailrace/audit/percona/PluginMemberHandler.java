package io.tailrace.audit.percona;

import io.tailrace.audit.record.AuditEventBuilder;
import io.tailrace.audit.record.MemberHandler;
import io.tailrace.audit.record.ProtocolCommand;
import io.tailrace.audit.record.RecordTime;
import io.tailrace.event.AuditEvent;
import io.tailrace.lexer.StringPool;
import io.tailrace.time.CivilTime;
import java.util.Locale;

/**
 * Writes the members of a record into its event. It supports the members of Percona's audit_log plugin in all its
 * formats, and of the XML of audit_log_filter and MySQL Enterprise Audit, which extends them. Members that may
 * contain a literal of a statement (a variable's value, a message, a rewritten statement) are omitted. Of an unknown
 * member only the name is stored, in the attribute {@code unknown_members}. Not thread-safe.
 */
final class PluginMemberHandler implements MemberHandler {

    private static final String ATTRIBUTES = "connection_attributes.attribute.";

    private final StringPool strings = new StringPool();
    private final AuditEventBuilder events;
    private final RecordTime clock;
    private AuditEvent event;
    private String zone;
    private String attributeName;
    private String table;
    private String user;
    /** Only records of connections have the member; their member {@code user} is the name alone. */
    private boolean privUserNamed;

    private boolean databaseNamed;

    /** Epoch microseconds of the record, or {@link CivilTime#NONE}. */
    private long time;

    PluginMemberHandler(AuditEventBuilder events, RecordTime clock) {
        this.events = events;
        this.clock = clock;
    }

    void start(AuditEvent ofRecord, String ofLog) {
        event = ofRecord;
        zone = ofLog;
        time = CivilTime.NONE;
        attributeName = "";
        table = "";
        user = "";
        privUserNamed = false;
        databaseNamed = false;
    }

    /** Returns whether the record has a member for the default database. */
    boolean namesDatabase() {
        return databaseNamed;
    }

    private void database(String value) {
        event.setDatabase(value);
        databaseNamed = true;
    }

    long time() {
        return time;
    }

    @Override
    public void member(String name, byte[] value, int length) {
        switch (name) {
            case "sqltext" -> events.statement(value, 0, length);
            case "timestamp" -> time = clock.micros(value, length, zone);
            case "variable_value",
                    "message",
                    "message_attributes",
                    "rewritten_query",
                    "map.element.key",
                    "map.element.value",
                    "status_code" -> {}
            default -> text(name, strings.utf8(value, 0, length));
        }
    }

    private void text(String key, String value) {
        switch (key) {
            case "name" -> event.setCommand(value);
            case "record", "record_id" -> event.setRecordId(value);
            case "command_class" -> event.setCommandClass(value);
            case "connection_id" -> event.setConnectionId(AuditEventBuilder.number(value));
            case "status" -> events.status(event, value);
            case "user" -> user = value;
            case "priv_user" -> {
                event.setPrivUser(value);
                privUserNamed = true;
            }
            case "os_user", "os_login" -> event.setOsUser(value.isEmpty() ? event.getOsUser() : value);
            case "proxy_user" -> event.setProxyUser(value);
            case "host" -> event.setHost(value.isEmpty() ? event.getHost() : value);
            case "ip" -> event.setIp(value.isEmpty() ? event.getIp() : value);
            case "db" -> database(value);
            case "table" -> table = value;
            case "connection_type" -> connectionType(value);
            default -> server(key, value);
        }
    }

    private void connectionType(String written) {
        String type = AuditEventBuilder.connectionType(written);
        event.setConnectionType(type);
        if (type.isEmpty() && !written.equalsIgnoreCase("undefined")) {
            AuditEventBuilder.attribute(event, "connection_type", written);
        }
    }

    private void server(String key, String value) {
        switch (key) {
            case "mysql_version" -> event.setServerVersion(value);
            case "server_id" -> event.setServerId(AuditEventBuilder.number(value));
            case "startup_options", "startup_optionsi" -> AuditEventBuilder.options(event, "startup_options", value);
            case "variable_name", "stored_program" -> event.setObject(value);
            case "event_subclass_name" -> event.setEventName(value);
            case "os_version", "version", "component", "producer", "flags", "event_class_name" -> AuditEventBuilder
                    .attribute(event, key, value);
            case ATTRIBUTES + "name" -> attributeName = value;
            case ATTRIBUTES + "value" -> AuditEventBuilder.connectionAttribute(event, attributeName, value);
            default -> AuditEventBuilder.unknownMember(event, key);
        }
    }

    /** Sets the fields that depend on several members. */
    void finish() {
        if (privUserNamed) {
            event.setUser(user);
        } else {
            AuditEventBuilder.account(event, user);
        }
        event.setEventClass(eventClass(event.getCommand(), event.getCommandClass()));
        AuditEventBuilder.table(event, table, event.getCommand().endsWith("Read"));
    }

    private static String eventClass(String name, String commandClass) {
        return switch (name) {
            case "Audit", "NoAudit", "Startup" -> "server";
            case "TableRead",
                    "TableInsert",
                    "TableUpdate",
                    "TableDelete",
                    "Read",
                    "Insert",
                    "Update",
                    "Delete" -> "table";
            case "Message" -> "message";
            default -> ofCommand(name, commandClass);
        };
    }

    private static String ofCommand(String name, String commandClass) {
        String eventClass = ProtocolCommand.eventClassOf(name);
        return eventClass.equals("query") ? ofClass(name, commandClass) : eventClass;
    }

    private static String ofClass(String name, String commandClass) {
        boolean context = name.startsWith("Auth ") || name.startsWith("Variable ") || name.startsWith("Command ");
        if (context) {
            return "admin";
        }
        return switch (commandClass.toLowerCase(Locale.ROOT)) {
            case "message" -> "message";
            case "authentication", "authorization" -> "admin";
            default -> "query";
        };
    }
}
