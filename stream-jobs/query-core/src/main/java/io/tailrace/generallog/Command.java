package io.tailrace.generallog;

import io.tailrace.lexer.ByteText;
import java.util.Arrays;
import java.util.Comparator;

/** The commands of the client protocol, by their names in the general log. */
enum Command {
    BINLOG_DUMP_GTID("Binlog Dump GTID", "admin", false),
    BINLOG_DUMP("Binlog Dump", "admin", false),
    BULK_EXECUTE("Bulk_execute", "query", true),
    CHANGE_USER("Change user", "connection", false),
    CLONE("Clone", "admin", false),
    CLOSE_STMT("Close stmt", "query", false),
    CONNECT_OUT("Connect Out", "connection", false),
    CONNECT("Connect", "connection", false),
    CREATE_DB("Create DB", "query", false),
    DAEMON("Daemon", "admin", false),
    DEBUG("Debug", "admin", false),
    DELAYED_INSERT("Delayed insert", "admin", false),
    DROP_DB("Drop DB", "query", false),
    ERROR("Error", "admin", false),
    EXECUTE("Execute", "query", true),
    FETCH("Fetch", "query", false),
    FIELD_LIST("Field List", "query", false),
    INIT_DB("Init DB", "connection", false),
    KILL("Kill", "admin", false),
    LONG_DATA("Long Data", "query", false),
    PING("Ping", "admin", false),
    PREPARE("Prepare", "query", true),
    PROCESSLIST("Processlist", "admin", false),
    QUERY("Query", "query", true),
    QUIT("Quit", "connection", false),
    REFRESH("Refresh", "admin", false),
    REGISTER_REPLICA("Register Replica", "admin", false),
    REGISTER_SLAVE("Register Slave", "admin", false),
    RESET_CONNECTION("Reset Connection", "connection", false),
    RESET_STMT("Reset stmt", "query", false),
    SET_OPTION("Set option", "admin", false),
    SHUTDOWN("Shutdown", "admin", false),
    SLEEP("Sleep", "admin", false),
    STATISTICS("Statistics", "admin", false),
    TABLE_DUMP("Table Dump", "admin", false),
    TIME("Time", "admin", false);

    /** Sorted by length, longest first, because one name may be a prefix of another. */
    private static final Command[] BY_LENGTH = Arrays.stream(values())
            .sorted(Comparator.comparingInt((Command command) -> -command.text.length()))
            .toArray(Command[]::new);

    private final String text;
    private final byte[] bytes;
    private final String eventClass;
    private final boolean statement;

    Command(String text, String eventClass, boolean statement) {
        this.text = text;
        this.bytes = ByteText.ascii(text);
        this.eventClass = eventClass;
        this.statement = statement;
    }

    /**
     * Returns the command whose name is at {@code from}, followed by a blank, a tab or the line's end; otherwise
     * null.
     */
    static Command at(byte[] line, int from, int to) {
        for (Command command : BY_LENGTH) {
            int end = from + command.bytes.length;
            if (ByteText.startsWith(line, from, to, command.bytes) && (end == to || ByteText.isBlank(line[end]))) {
                return command;
            }
        }
        return null;
    }

    /** Returns the name that the server writes. */
    String text() {
        return text;
    }

    int length() {
        return bytes.length;
    }

    /** Returns the event class of audit events. */
    String eventClass() {
        return eventClass;
    }

    /** Returns whether its argument is a statement, which may have many lines. */
    boolean hasStatement() {
        return statement;
    }
}
