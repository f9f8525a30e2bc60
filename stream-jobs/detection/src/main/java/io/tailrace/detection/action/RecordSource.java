package io.tailrace.detection.action;

/**
 * The source of a record of an action: a log, or a kind of event in a filter log, which records a statement in several
 * events. A source records an action once, so two events of one source are two actions. Each source is one bit of a
 * set.
 */
final class RecordSource {

    /** A row of a table that a statement touches. One action may have many of them. */
    static final int ROW = 0;

    static final int SLOW = 1;
    static final int GENERAL = 1 << 1;
    static final int ERROR = 1 << 2;
    /** The only event of each statement in an audit log. */
    static final int AUDIT = 1 << 3;

    private static final int QUERY_START = 1 << 4;
    private static final int QUERY_END = 1 << 5;
    private static final int NESTED_START = 1 << 6;
    private static final int NESTED_END = 1 << 7;
    private static final int LOG = 1 << 8;
    private static final int RESULT = 1 << 9;
    private static final int ERROR_EVENT = 1 << 10;
    private static final int COMMAND_START = 1 << 11;
    private static final int COMMAND_END = 1 << 12;
    private static final int OTHER = 1 << 13;

    /** Sources that write when a statement starts; others may write when it ends. */
    static final int AT_START = GENERAL | QUERY_START | NESTED_START | LOG | COMMAND_START;

    private RecordSource() {}

    /** @param eventName the log's own name of the event within its class; empty if it has none */
    static int of(String service, String eventName) {
        return switch (service) {
            case "slowlog" -> SLOW;
            case "general" -> GENERAL;
            case "errorlog" -> ERROR;
            default -> audit(eventName);
        };
    }

    private static int audit(String eventName) {
        return switch (eventName) {
            case "", "status", "connect", "change_user" -> AUDIT;
            case "query_start" -> QUERY_START;
            case "query_status_end" -> QUERY_END;
            case "query_nested_start" -> NESTED_START;
            case "query_nested_status_end" -> NESTED_END;
            case "log" -> LOG;
            case "result" -> RESULT;
            case "error" -> ERROR_EVENT;
            case "command_start" -> COMMAND_START;
            case "command_end" -> COMMAND_END;
            default -> OTHER;
        };
    }
}
