package io.tailrace.audit.mcafee;

import io.tailrace.audit.record.AuditEventBuilder;
import io.tailrace.audit.record.MemberHandler;
import io.tailrace.audit.record.ProtocolCommand;
import io.tailrace.event.AuditEvent;
import io.tailrace.lexer.StringPool;
import io.tailrace.time.CivilTime;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes the members of a line of the McAfee (Trellix) mysql-audit plugin into its event. Every value is a string.
 * The plugin logs the objects of a statement, but not how they are used: a SELECT reads all of them, any other
 * statement writes the first and reads the others. Not thread-safe.
 */
final class McAfeeMemberHandler implements MemberHandler {

    private static final String ATTRIBUTES = "connect_attrs.";
    private static final String NO_TEXT = "n/a";

    private record NamedObject(String database, String name) {}

    private final StringPool strings = new StringPool();
    private final AuditEventBuilder events;
    private final List<NamedObject> objects = new ArrayList<>();
    private AuditEvent event;
    private String type;
    private String applicationName;
    private String query;
    private String database;
    private String objectName;
    private long time;

    McAfeeMemberHandler(AuditEventBuilder events) {
        this.events = events;
    }

    void start(AuditEvent ofRecord) {
        event = ofRecord;
        type = "";
        applicationName = "";
        query = "";
        database = "";
        objectName = "";
        time = CivilTime.NONE;
        objects.clear();
    }

    /** Epoch microseconds of the record, or {@link CivilTime#NONE}. */
    long time() {
        return time;
    }

    String type() {
        return type;
    }

    @Override
    public void member(String name, byte[] value, int length) {
        if (name.equals("query")) {
            events.statement(value, 0, length);
            query = length <= 64 ? strings.utf8(value, 0, length) : "";
        } else {
            text(name, strings.utf8(value, 0, length));
        }
    }

    private void text(String name, String value) {
        switch (name) {
            case "msg-type" -> type = value;
            case "date" -> time(value);
            case "thread-id" -> event.setConnectionId(AuditEventBuilder.number(value));
            case "query-id" -> event.setServerQueryId(AuditEventBuilder.number(value));
            case "user" -> event.setUser(value);
            case "priv_user" -> event.setPrivUser(value);
            case "os_user" -> event.setOsUser(value);
            case "ip" -> event.setIp(value);
            case "host" -> event.setHost(value);
            case "client_port" -> event.setPort(AuditEventBuilder.port(value));
            case "status" -> events.status(event, value);
            case "cmd" -> event.setCommand(value);
            case "appname" -> applicationName = value;
            case "mysql-version" -> event.setServerVersion(value);
            case "objects.db" -> database = value;
            case "objects.name" -> objectName = value;
            default -> attribute(name, value);
        }
    }

    private void time(String millis) {
        long number = AuditEventBuilder.number(millis);
        time = number > 0 && number < Long.MAX_VALUE / 1_000_000 ? number * 1_000 : CivilTime.NONE;
    }

    private void attribute(String name, String value) {
        if (name.startsWith(ATTRIBUTES)) {
            AuditEventBuilder.connectionAttribute(event, name.substring(ATTRIBUTES.length()), value);
            return;
        }
        switch (name) {
            case "rows",
                    "pid",
                    "capabilities",
                    "hostname",
                    "audit-version",
                    "audit-protocol-version",
                    "mysql-program",
                    "mysql-socket",
                    "mysql-port",
                    "server_pid" -> AuditEventBuilder.attribute(event, name, value);
            case "objects.obj_type" -> {}
            default -> AuditEventBuilder.unknownMember(event, name);
        }
    }

    @Override
    public void element(String name) {
        if (name.equals("objects")) {
            objects.add(new NamedObject(database, objectName));
            database = "";
            objectName = "";
        }
    }

    /** Sets the fields that depend on several members. */
    void finish() {
        if (event.getProgramName().isEmpty()) {
            event.setProgramName(applicationName);
        } else if (!applicationName.equals(event.getProgramName())) {
            AuditEventBuilder.attribute(event, "appname", applicationName);
        }
        if (type.equals("header")) {
            event.setEventClass("server");
            event.setCommand("header");
            return;
        }
        boolean text = !query.equals(event.getCommand()) && !query.equals(NO_TEXT);
        if (!text) {
            events.statement(new byte[0], 0, 0);
        }
        ofCommand(event.getCommand(), text);
    }

    /** A name that begins with a lower-case letter is the class of a statement, not a command. */
    private void ofCommand(String command, boolean text) {
        boolean isClass = !command.isEmpty() && Character.isLowerCase(command.charAt(0));
        String eventClass = isClass ? "query" : ProtocolCommand.eventClassOf(command);
        event.setEventClass(eventClass);
        if (eventClass.equals("query") && (text || isClass)) {
            event.setCommandClass(command);
            event.setCommand("Query");
        }
    }

    /**
     * Adds the tables of the statement. If nothing else states its default database, that of the first table is used.
     */
    void tables() {
        boolean writes = !event.getCommandClass().equals("select")
                && !event.getCommandClass().startsWith("show");
        for (int i = 0; i < objects.size(); i++) {
            NamedObject object = objects.get(i);
            if (event.getDatabase().isEmpty()) {
                event.setDatabase(object.database());
            }
            if (object.name().isEmpty()) {
                continue;
            }
            if (writes && i == 0) {
                AuditEventBuilder.tableWritten(event, object.database(), object.name());
            } else {
                AuditEventBuilder.tableRead(event, object.database(), object.name());
            }
        }
    }
}
