package io.tailrace.audit.record;

import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The commands of the client protocol, by the names that servers and their audit plugins write (MySQL: {@code
 * Command_names} in sql/sql_parse.cc). It owns the event class of a command, which is the same in every format.
 */
public enum ProtocolCommand {
    BINLOG_DUMP("Binlog Dump", "admin", false),
    BINLOG_DUMP_GTID("Binlog Dump GTID", "admin", false),
    BULK_EXECUTE("Bulk_execute", "query", true),
    CHANGE_USER("Change user", "connection", false),
    CLONE("clone", "admin", false),
    CLOSE_STMT("Close stmt", "query", false),
    CONNECT("Connect", "connection", false),
    CONNECT_OUT("Connect Out", "connection", false),
    CREATE_DB("Create DB", "query", false),
    DAEMON("Daemon", "admin", false),
    DEBUG("Debug", "admin", false),
    DELAYED_INSERT("Delayed insert", "admin", false),
    DISCONNECT("Disconnect", "connection", false),
    DROP_DB("Drop DB", "query", false),
    ERROR("Error", "admin", false),
    EXECUTE("Execute", "query", true),
    FAILED_LOGIN("Failed Login", "connection", false),
    FETCH("Fetch", "query", false),
    FIELD_LIST("Field List", "query", false),
    GROUP_REPLICATION_STREAM("Group Replication Data Stream subscription", "admin", false),
    INIT_DB("Init DB", "connection", false),
    KILL("Kill", "admin", false),
    LONG_DATA("Long Data", "query", false),
    PING("Ping", "connection", false),
    PREPARE("Prepare", "query", true),
    PRE_AUTHENTICATE("Pre Authenticate", "connection", false),
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

    private static final String STATEMENT = "query";

    private static final Map<String, ProtocolCommand> BY_NAME =
            Arrays.stream(values()).collect(Collectors.toMap(ProtocolCommand::wireName, Function.identity()));

    private final String wireName;
    private final String eventClass;
    private final boolean statement;

    ProtocolCommand(String wireName, String eventClass, boolean statement) {
        this.wireName = wireName;
        this.eventClass = eventClass;
        this.statement = statement;
    }

    /** Returns the event class of the command with a name: connection, admin or query. An unknown one is query. */
    public static String eventClassOf(String wireName) {
        ProtocolCommand command = BY_NAME.get(wireName);
        return command == null ? STATEMENT : command.eventClass;
    }

    /** Returns the name that logs contain, in ASCII. */
    public String wireName() {
        return wireName;
    }

    /** Returns the event class: connection, admin or query. */
    public String eventClass() {
        return eventClass;
    }

    /** Returns whether its argument is a statement, which may have many lines. */
    public boolean hasStatement() {
        return statement;
    }
}
