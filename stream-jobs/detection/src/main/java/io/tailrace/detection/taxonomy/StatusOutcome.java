package io.tailrace.detection.taxonomy;

import io.tailrace.event.AuditEvent;
import io.tailrace.flag.EventFlag;
import java.util.Collection;
import java.util.Locale;
import java.util.Set;

/**
 * The outcome of the action that an event records: {@code success}, {@code failure} or {@code unknown}. {@code
 * schemas/contracts/outcome.json} has the cases; ADR 0092 has the source of each rule.
 */
public final class StatusOutcome {

    static final String SUCCESS = "success";
    static final String FAILURE = "failure";
    static final String UNKNOWN = "unknown";

    /** Records of filter logs that are written before the server decides; their status of 0 has no meaning. */
    private static final Set<String> BEFORE_THE_RESULT = Set.of(
            "command_start", "log", "postparse", "pre_authenticate", "preparse", "query_nested_start", "query_start");

    /** Percona Server logs the last condition of a statement, also a note or a warning. These codes are never errors. */
    private static final Set<Integer> WARNINGS = Set.of(
            1003, 1285, 1287, 1544, 1592, 1612, 1618, 1620, 1681, 1759, 1760, 1831, 1867, 1868, 3090, 3135, 3719, 3778);

    private StatusOutcome() {}

    /** Returns the outcome of an event of an audit or general log. */
    public static String of(AuditEvent event) {
        return of(event.getEventClass(), event.getCommand(), event.getEventName(), event.getStatus(), event.getFlags());
    }

    /** Returns whether a log does not contain the result. */
    public static boolean isUnknown(AuditEvent event) {
        return of(event).equals(UNKNOWN);
    }

    /**
     * Returns the outcome of an event of an audit or general log.
     *
     * @param eventName empty, or the log's own name within the class
     * @param flags of the event
     */
    public static String of(String eventClass, String command, String eventName, int status, Collection<?> flags) {
        if (hasFailed(eventClass, command, status)) {
            return FAILURE;
        }
        return isUnknown(eventClass, command, eventName, flags) ? UNKNOWN : SUCCESS;
    }

    /**
     * Returns the outcome of an entry of a slow log.
     *
     * @param code the error code; null if the log contains none
     */
    public static String ofEntry(Integer code) {
        if (code == null) {
            return UNKNOWN;
        }
        return isFailure(code) ? FAILURE : SUCCESS;
    }

    /** Returns whether the error code of an entry of a slow log means that its statement failed. */
    public static boolean isFailure(int code) {
        return code != 0 && !WARNINGS.contains(code);
    }

    /** MariaDB's FAILED_CONNECT and McAfee's Failed Login have failed whatever their status is. */
    private static boolean hasFailed(String eventClass, String command, int status) {
        return status != 0
                || eventClass.equals("connection")
                        && command.toLowerCase(Locale.ROOT).startsWith("failed");
    }

    /** A record of a table is written while its statement runs, and contains no status. */
    private static boolean isUnknown(String eventClass, String command, String eventName, Collection<?> flags) {
        String name = eventName.isEmpty() ? command : eventName;
        return EventFlag.STATUS_UNKNOWN.isIn(flags)
                || eventClass.equals("table")
                || BEFORE_THE_RESULT.contains(name.toLowerCase(Locale.ROOT).replace(' ', '_'));
    }
}
