package io.tailrace.errorlog;

import io.tailrace.client.ClientAddress;
import io.tailrace.event.ErrorEvent;
import java.util.Map;

/** Extracts fields and details from a message: names of accounts, errors, locations, positions. */
final class ErrorDetails {

    private ErrorDetails() {}

    static void read(ErrorEvent event, ErrorKind kind) {
        String message = event.getMessage();
        Map<String, String> details = event.getDetails();
        switch (kind) {
            case ACCESS_DENIED -> accessDenied(event, message);
            case CONNECTION_ABORTED -> aborted(event, message);
            case REPLICATION_ERROR, REPLICATION_STATE, ERRANT_GTID -> replication(message, details);
            case ROLE_CHANGE -> role(message, details);
            case CRASH -> crash(event, message);
            case BACKUP -> backup(message, event.getLevel(), details);
            case SST, IST, CLUSTER_STATE, CLUSTER_VIEW, QUORUM_LOST, FLOW_CONTROL -> cluster(message, details);
            case INNODB_PRESSURE -> pressure(message, details);
            case PLUGIN_CHANGE -> put(details, "plugin", between(message, "lugin '", "'"));
            case SERVER_STATE -> put(details, "state", state(message));
            case DISK_FULL -> put(details, "path", between(message, "'", "'"));
            default -> {}
        }
    }

    /**
     * Reads {@code Access denied for user 'x' or '1'='1'@'localhost' (using password: YES)}; a name may contain
     * quotation marks.
     */
    private static void accessDenied(ErrorEvent event, String message) {
        int user = message.indexOf("for user '");
        int at = message.lastIndexOf("'@'");
        int end = at < 0 ? -1 : message.indexOf('\'', at + 3);
        if (user >= 0 && at > user && end > 0) {
            event.setUser(message.substring(user + "for user '".length(), Math.max(at, user + "for user '".length())));
            host(event, message.substring(at + 3, end));
        }
        put(event.getDetails(), "using_password", between(message, "(using password: ", ")"));
        if (message.contains("to database '")) {
            event.setDatabase(between(message, "to database '", "'"));
        }
    }

    private static void host(ErrorEvent event, String host) {
        ClientAddress client = ClientAddress.of(host, "");
        event.setHost(client.host());
        event.setIp(client.address());
    }

    /** Reads {@code Aborted connection 9 to db: 'shop' user: 'o'brien' host: 'localhost' (CLOSE_CONNECTION)}. */
    private static void aborted(ErrorEvent event, String message) {
        int user = message.indexOf("' user: '");
        int host = message.lastIndexOf("' host: '");
        int hostEnd = host < 0 ? -1 : message.indexOf('\'', host + 9);
        int database = message.indexOf(" to db: '");
        if (database < 0 || user < database || host < user + 9 || hostEnd < 0) {
            return;
        }
        String name = message.substring(Math.min(database + 9, user), user);
        event.setDatabase(name.equals("unconnected") ? "" : name);
        event.setUser(message.substring(user + 9, host));
        host(event, message.substring(host + 9, hostEnd));
        int reason = message.indexOf('(', hostEnd);
        int end = message.lastIndexOf(')');
        put(event.getDetails(), "reason", reason > 0 && end > reason ? message.substring(reason + 1, end) : "");
        long connection = number(between(message, "connection ", " "));
        if (connection > 0) {
            event.setThreadId(connection);
        }
    }

    private static void replication(String message, Map<String, String> details) {
        String error = digits(message, "Got fatal error ");
        error = error.isEmpty() ? digits(message, "server_errno=") : error;
        error = error.isEmpty() ? digits(message, "Error_code: ") : error;
        error = error.isEmpty() ? digits(message, "Error_code: MY-") : error;
        error = error.isEmpty() ? digits(message, "rror_code: ") : error;
        error = error.isEmpty() ? digits(message, "Internal MariaDB error code: ") : error;
        put(details, "error", withoutZeros(error));
        put(details, "channel", between(message, "for channel '", "'"));
        String log = between(message, "master log ", ",");
        put(details, "source_log", log.isEmpty() ? between(message, "source log ", ",") : log);
        put(details, "end_log_pos", digits(message, "end_log_pos "));
        put(details, "gtid", between(message, "transaction '", "'"));
        put(details, "gtid", between(message, ", Gtid ", ","));
        if (message.contains("max_allowed_packet")
                || message.contains("packet bigger than")
                || message.contains("event too large")) {
            details.put("reason", "oversized_event");
        } else if (message.contains("purged")) {
            details.put("reason", "purged_binary_log");
        } else if (message.contains("rror connecting to")) {
            details.put("reason", "connection");
        }
    }

    private static String withoutZeros(String number) {
        long value = number(number);
        return value <= 0 ? "" : Long.toString(value);
    }

    private static void role(String message, Map<String, String> details) {
        put(details, "source_host", lastBetween(message, "aster_host='", "'"));
        put(details, "source_host", lastBetween(message, "ource_host='", "'"));
        put(details, "channel", between(message, "FOR CHANNEL '", "'"));
        put(details, "primary", between(message, "primary with address ", " "));
    }

    private static void crash(ErrorEvent event, String message) {
        Map<String, String> details = event.getDetails();
        put(details, "signal", digits(message, "got signal "));
        put(details, "exception", between(message, "got exception ", " "));
        put(details, "version", between(message, "Server version: ", "\n"));
        put(details, "assertion_place", between(message, " in file ", "\n"));
        put(details, "assertion_place", between(message, "Assertion failure: ", " thread "));
        put(details, "assertion", between(message, "ailing assertion: ", "\n"));
        String thread = digits(message, "Connection ID (thread ID): ");
        long id = number(thread.isEmpty() ? digits(message, "thd->thread_id=") : thread);
        if (id > 0) {
            event.setThreadId(id);
        }
        put(details, "stack", stack(message));
    }

    /** Returns the functions of the stack, innermost first; the program or library precedes their parenthesis. */
    private static String stack(String message) {
        StringBuilder names = new StringBuilder();
        for (String line : message.split("\n", -1)) {
            int open = line.indexOf('(');
            int plus = line.indexOf("+0x", Math.max(open, 0));
            String function = open > 0 && plus > open + 1 && line.lastIndexOf(' ', open) < 0
                    ? line.substring(open + 1, plus)
                    : numbered(line.strip());
            if (!function.isEmpty() && names.length() < 4_096) {
                names.append(names.length() == 0 ? "" : "\n").append(function);
            }
        }
        return names.toString();
    }

    /** Reads {@code #1 0x55d1c0e2f3ad handle_fatal_signal at signal_handler.cc:227}, of MySQL 8.0.30 and later. */
    private static String numbered(String line) {
        if (!line.startsWith("#")) {
            return "";
        }
        String[] words = line.split(" +", 3);
        int at = words.length < 3 || !words[1].startsWith("0x") ? -1 : words[2].lastIndexOf(" at ");
        return at > 0 ? words[2].substring(0, at) : "";
    }

    private static void backup(String message, String level, Map<String, String> details) {
        put(details, "phase", phase(message, level));
        put(details, "lsn", digits(message, "log scanned up to ("));
        put(details, "from_lsn", digits(message, "Transaction log of lsn ("));
        put(details, "to_lsn", digits(message, ") to ("));
        put(details, "checkpoint_lsn", digits(message, "(for incremental): '"));
        put(details, "version", between(message, "xtrabackup version ", " "));
    }

    private static String phase(String message, String level) {
        if (message.contains("completed OK!")) {
            return "completed";
        }
        boolean failed = level.equals("Error") || message.startsWith("Error") || message.contains("xtrabackup: Error");
        if (failed || message.contains(": error: ")) {
            return "failed";
        }
        // Each run logs its version once; its arguments are in one or two earlier messages.
        boolean start = message.contains("tarting the backup operation")
                || message.contains("xtrabackup version")
                || message.contains("Starting Xtrabackup");
        if (start) {
            return "start";
        }
        boolean end = message.contains("Transaction log of lsn")
                || message.contains("(for incremental)")
                || message.contains("All tables unlocked")
                || message.contains("Finished");
        return end
                ? "end"
                : message.contains("opying") || message.contains("treaming")
                        ? "copying"
                        : message.contains("log scanned up to") ? "log" : "";
    }

    private static void cluster(String message, Map<String, String> details) {
        put(details, "from_state", between(message, "Shifting ", " ->"));
        put(details, "to_state", between(message, " -> ", " "));
        put(details, "component", lower(between(message, "component  = ", ",")));
        put(details, "members", between(message, "members    = ", " "));
        put(details, "interval", between(message, "nterval: [", "]"));
        put(details, "role", between(message, "--role '", "'"));
        put(details, "address", between(message, "--address '", "'"));
        if (message.contains("New COMPONENT")) {
            put(details, "primary", between(message, "primary = ", ","));
            put(details, "members", digits(message, "memb_num = "));
        }
    }

    private static String lower(String text) {
        return text.toLowerCase(java.util.Locale.ROOT);
    }

    private static void pressure(String message, Map<String, String> details) {
        put(details, "loop_took_ms", digits(message, "loop took "));
        put(details, "checkpoint_age", digits(message, "checkpoint is "));
        put(details, "wait_place", between(message, " has waited at ", " for "));
        put(details, "wait_seconds", between(message, " for ", " seconds"));
    }

    private static String state(String message) {
        if (message.contains("ready for connections")) {
            return "ready";
        }
        if (message.contains("rash recovery")
                || message.contains("not shut down normally")
                || message.contains("not shutdown normally")) {
            return "recovery";
        }
        boolean down = message.contains("hutdown")
                || message.contains("SHUTDOWN")
                || message.contains("ended")
                || message.contains("Aborting");
        return down ? "shutdown" : "start";
    }

    static void put(Map<String, String> details, String name, String value) {
        if (!value.isEmpty()) {
            details.put(name, value);
        }
    }

    /**
     * Returns the text between the first {@code before} and the next {@code after}, or an empty text. At most 512
     * characters.
     */
    static String between(String text, String before, String after) {
        return from(text, text.indexOf(before), before, after);
    }

    private static String lastBetween(String text, String before, String after) {
        return from(text, text.lastIndexOf(before), before, after);
    }

    private static String from(String text, int at, String before, String after) {
        int start = at + before.length();
        int end = at < 0 ? -1 : text.indexOf(after, start);
        return end < 0 || end - start > 512 ? "" : text.substring(start, end).strip();
    }

    /** Returns the digits directly after the first {@code before}. */
    static String digits(String text, String before) {
        int at = text.indexOf(before);
        int from = at + before.length();
        int end = from;
        while (at >= 0 && end < text.length() && Character.digit(text.charAt(end), 10) >= 0) {
            end++;
        }
        return at < 0 ? "" : text.substring(from, end);
    }

    /** Parses a number; returns 0 if the text is not one. */
    static long number(String digits) {
        boolean number =
                !digits.isEmpty() && digits.length() <= 18 && digits.chars().allMatch(c -> c >= '0' && c <= '9');
        return number ? Long.parseLong(digits) : 0;
    }
}
