package io.tailrace.detection.taxonomy;

import io.tailrace.event.AuditEvent;
import io.tailrace.flag.EventFlag;
import java.util.Locale;

/**
 * Classifies logins in all formats: a connection that begins, is refused, or changes its user. A log records each login
 * with one event that is {@code success} or {@code failure}. A general log writes a line before the server decides,
 * which is {@code unknown}; the next command of the connection shows that the login succeeded, or a line shows that it
 * was refused. {@code schemas/contracts/login.json} has the cases.
 */
public final class LoginClassifier {

    private LoginClassifier() {}

    /**
     * Returns whether an event of an audit or general log records a login.
     *
     * @param eventName empty, or the log's own name within the class: filter logs record a login in events of several
     */
    public static boolean isLogin(String eventClass, String command, String eventName) {
        boolean one =
                switch (eventName.toLowerCase(Locale.ROOT)) {
                    case "", "connect", "change_user" -> true;
                    default -> false;
                };
        return one && eventClass.equals("connection") && isLogin(command.toLowerCase(Locale.ROOT));
    }

    private static boolean isLogin(String command) {
        return switch (command) {
            case "connect", "failed_connect", "failed login" -> true;
            default -> changesUser(command);
        };
    }

    /** Returns whether a command is a login within a connection. */
    public static boolean changesUser(String command) {
        return switch (command.toLowerCase(Locale.ROOT)) {
            case "change user", "change_user", "changeuser" -> true;
            default -> false;
        };
    }

    /** Returns the result of the login that an event records; empty if it records none. */
    static String of(AuditEvent event) {
        if (EventFlag.LOGGED_IN.isIn(event.getFlags())) {
            return StatusOutcome.SUCCESS;
        }
        if (!isLogin(event.getEventClass(), event.getCommand(), event.getEventName())) {
            return "";
        }
        return StatusOutcome.of(event);
    }
}
