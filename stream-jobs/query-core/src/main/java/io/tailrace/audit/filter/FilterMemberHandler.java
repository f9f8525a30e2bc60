package io.tailrace.audit.filter;

import io.tailrace.audit.record.AuditEventBuilder;
import io.tailrace.audit.record.MemberHandler;
import io.tailrace.audit.record.ProtocolCommand;
import io.tailrace.audit.record.RecordTime;
import io.tailrace.event.AuditEvent;
import io.tailrace.lexer.StringPool;
import io.tailrace.time.CivilTime;

/**
 * Writes the members of a JSON record of MySQL Enterprise Audit or Percona's audit_log_filter into its event. Members
 * that may contain a literal of a statement (a variable's value, a message, a rewritten statement) are omitted. Of an
 * unknown member only the name is stored, in the attribute {@code unknown_members}. Not thread-safe.
 */
final class FilterMemberHandler implements MemberHandler {

    /** Smaller Unix times are seconds (MySQL), larger ones microseconds (Percona). */
    private static final long MAX_SECONDS = 100_000_000_000L;

    private static final String ATTRIBUTES = "connection_attributes.";

    private final StringPool strings = new StringPool();
    private final AuditEventBuilder events;
    private final RecordTime clock;
    private AuditEvent event;
    private String zone;
    private long timestamp;
    private long unixTime;
    private String eventClass;
    private String accountUser;
    private String loginUser;
    private String table;

    FilterMemberHandler(AuditEventBuilder events, RecordTime clock) {
        this.events = events;
        this.clock = clock;
    }

    void start(AuditEvent ofRecord, String ofLog) {
        event = ofRecord;
        zone = ofLog;
        timestamp = CivilTime.NONE;
        unixTime = 0;
        eventClass = "";
        accountUser = "";
        loginUser = "";
        table = "";
    }

    /** Epoch microseconds of the record, or {@link CivilTime#NONE}. */
    long time() {
        if (unixTime <= 0) {
            return timestamp;
        }
        return unixTime < MAX_SECONDS ? unixTime * 1_000_000 : unixTime;
    }

    boolean hasClass() {
        return !eventClass.isEmpty();
    }

    @Override
    public void member(String path, byte[] value, int length) {
        switch (path) {
            case "timestamp" -> timestamp = clock.micros(value, length, zone);
            case "general_data.query", "query_data.query", "table_access_data.query", "parse_data.query" -> events
                    .statement(value, 0, length);
            case "global_variable_data.value", "parse_data.rewritten_query", "message_data.message" -> {}
            default -> text(path, strings.utf8(value, 0, length));
        }
    }

    private void text(String path, String value) {
        switch (path) {
            case "time" -> unixTime = AuditEventBuilder.number(value);
            case "id" -> event.setRecordId(value);
            case "class" -> eventClass = value;
            case "event" -> event.setEventName(value);
            case "connection_id" -> event.setConnectionId(AuditEventBuilder.number(value));
            case "account.user" -> accountUser = value;
            case "account.host" -> event.setHost(value);
            case "login.user" -> loginUser = value;
            case "login.os" -> event.setOsUser(value);
            case "login.ip" -> event.setIp(value);
            case "login.proxy" -> event.setProxyUser(value);
            case "general_data.command", "command_data.command" -> event.setCommand(value);
            case "connection_data.db", "table_access_data.db", "stored_program_data.db" -> event.setDatabase(value);
            case "table_access_data.table" -> table = value;
            case "global_variable_data.name", "stored_program_data.name" -> event.setObject(value);
            case "connection_data.connection_type" -> event.setConnectionType(AuditEventBuilder.connectionType(value));
            default -> detail(path, value);
        }
    }

    private void detail(String path, String value) {
        switch (path.substring(path.indexOf('.') + 1)) {
            case "status" -> events.status(event, value);
            case "sql_command" -> event.setCommandClass(value);
            case "server_id" -> event.setServerId(AuditEventBuilder.number(value));
            case "mysql_version" -> event.setServerVersion(value);
            case "args" -> options(value);
            case "os_version",
                    "component",
                    "producer",
                    "flags",
                    "query_time",
                    "bytes_sent",
                    "bytes_received",
                    "rows_sent",
                    "rows_examined",
                    "digest",
                    "event_class_name",
                    "event_subclass_name" -> AuditEventBuilder.attribute(
                    event, path.substring(path.indexOf('.') + 1), value);
            default -> attributes(path, value);
        }
    }

    private void options(String value) {
        String before = event.getAttributes().get("startup_options");
        AuditEventBuilder.options(event, "startup_options", before == null ? value : before + ' ' + value);
    }

    private void attributes(String path, String value) {
        int attributes = path.indexOf(ATTRIBUTES);
        boolean values = path.startsWith("message_data.") || path.startsWith("message_attributes.");
        if (attributes == 0 || path.startsWith("connection_data." + ATTRIBUTES)) {
            AuditEventBuilder.connectionAttribute(event, path.substring(attributes + ATTRIBUTES.length()), value);
        } else if (!values && !path.equals("command_data.name")) {
            AuditEventBuilder.unknownMember(event, path);
        }
    }

    /**
     * Sets the fields that depend on several members. The login's user is the name that the client sent; the
     * account's user is the one whose privileges the connection has. The first releases of Percona's filter write
     * {@code priv_user[user] @ host [ip]} into both, with the record's own host and address. A refused login has no
     * account, so a stranger's name that looks like such a text is a name.
     */
    void finish() {
        event.setEventClass(commonClass());
        if (event.getCommand().isEmpty()) {
            event.setCommand(event.getEventName().isEmpty() ? eventClass : event.getEventName());
        }
        String written = "] @ " + event.getHost() + " [" + event.getIp() + ']';
        String user = loginUser.isEmpty() ? accountUser : loginUser;
        if (user.endsWith(written) && user.equals(accountUser)) {
            AuditEventBuilder.account(event, user);
        } else {
            event.setUser(user);
        }
        if (event.getPrivUser().isEmpty() && !accountUser.endsWith(written)) {
            event.setPrivUser(accountUser);
        }
        AuditEventBuilder.table(event, table, "read".equals(event.getEventName()));
    }

    private String commonClass() {
        return switch (eventClass) {
            case "connection" -> "connection";
            case "table_access", "table_access_data" -> "table";
            case "audit" -> "server";
            case "message" -> "message";
            case "authentication",
                    "authorization",
                    "global_variable",
                    "command",
                    "server_startup",
                    "server_shutdown" -> "admin";
            case "general" -> ProtocolCommand.eventClassOf(event.getCommand());
            default -> "query";
        };
    }
}
