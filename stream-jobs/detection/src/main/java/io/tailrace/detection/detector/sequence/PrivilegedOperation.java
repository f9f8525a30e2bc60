package io.tailrace.detection.detector.sequence;

import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.flag.EventFlag;
import io.tailrace.flag.EventFlagFamily;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** An operation that requires a privilege which few accounts have. */
public enum PrivilegedOperation {
    /** Accounts, roles, grants. */
    ACCOUNTS,
    /** Files of the server. */
    FILES,
    /** Settings, plugins, replication, shutdown and restart of the server. */
    SERVER,
    /** The server's system tables. */
    SYSTEM_TABLES,
    /** Dropping or truncating databases and tables. */
    DROPS;

    private static final List<String> OF_ACCOUNTS = List.of(
            "create user",
            "alter user",
            "drop user",
            "rename user",
            "create or replace user",
            "grant ",
            "revoke ",
            "set password",
            "create role",
            "drop role",
            "set default role");
    private static final List<String> GIVING = List.of(
            "create user",
            "create or replace user",
            "alter user",
            "grant ",
            "set default role",
            "rename user",
            "set password");
    private static final List<String> CHANGING = List.of("alter user", "set password");
    /** Rights on the rows of one table, or on one routine. They permit no privileged operation. */
    private static final Pattern GIVING_OBJECT =
            Pattern.compile("grant (?:(?:select|insert|update|delete|execute|show view)(?: ?\\([^()]*\\))?,? ?)+ ?on "
                    + "(table |procedure |function )?`?(?!mysql\\b)[a-z0-9_$?]+`?\\.`?[a-z0-9_$?]+`? to .*");

    /** Statements that may also name roles. Others name users. */
    private static final List<String> TO_ROLES = List.of("grant ", "set default role");
    /** Flags that report the statement that is prepared. */
    private static final Set<String> PREPARED_GIVING = Set.of(
            EventFlagFamily.dynamic(List.of("grant")),
            EventFlagFamily.dynamic(List.of("create", "user")),
            EventFlagFamily.dynamic(List.of("alter", "user")),
            EventFlagFamily.dynamic(List.of("rename", "user")),
            EventFlagFamily.dynamic(List.of("set", "password")));

    /** A statement that sets or discards passwords, and changes nothing else of its accounts. */
    private static final Pattern PASSWORD_ONLY =
            Pattern.compile("set password for .*|alter user (if exists )?[^,]{1,200}? "
                    + "(identified( with [^ ]+)?( by)? ?\\?( retain current password)?|discard old password)");

    /** Flags of events that may concern more accounts than they name. */
    private static final Set<String> NAMES_NOT_ALL =
            Set.of(EventFlag.TRUNCATED.wireName(), EventFlag.ACCOUNTS_INCOMPLETE.wireName());

    private static final List<String> OF_SERVER = List.of(
            "set global",
            "set persist",
            "set @@global",
            "set @@persist",
            "install ",
            "uninstall ",
            "shutdown",
            "change master",
            "change replication",
            "reset ",
            "purge ",
            "stop slave",
            "stop replica",
            "flush ");
    private static final List<String> OF_DROPS = List.of("drop table", "drop database", "drop schema", "truncate");
    private static final List<String> OF_FILES =
            List.of("into outfile", "into dumpfile", "load_file(", "load data infile");
    private static final List<String> PLAIN =
            List.of("select", "insert", "update ", "delete ", "commit", "begin", "rollback", "show ");
    private static final List<String> LOGS =
            List.of("audit", "general_log", "slow_query_log", "log_output", "log_error", "log_slow", "sql_log_bin");
    /** Settings of which any change counts: the destination of a log, and its filters and content. */
    private static final List<String> LOGS_MOVED = List.of(
            "general_log_file",
            "slow_query_log_file",
            "log_slow_query_file",
            "server_audit_events",
            "server_audit_excl",
            "server_audit_incl",
            "server_audit_output",
            "server_audit_mode",
            "server_audit_file_path",
            "server_audit_syslog",
            "audit_log_file",
            "audit_log_policy",
            "audit_log_exclude",
            "audit_log_include",
            "audit_log_statement",
            "audit_log_connection",
            "log_error_suppression",
            "log_error_services");
    /** Flags that report settings of logs. */
    private static final Pattern LOG_SETTING = Pattern.compile("(slow_query_log|log_slow_query|general_log|log_output"
            + "|server_audit_logging|sql_log_bin|audit_log_(filter_)?disable|log_error_verbosity)=.*");

    private static final Pattern LOG_OFF = Pattern.compile(
            "(slow_query_log|log_slow_query|general_log|server_audit_logging)=(off|default|other)|sql_log_bin=(off|other)"
                    + "|log_output=off|(audit_log_(filter_)?disable|log_error_verbosity)=(on|other)");

    private static final Set<String> LIBRARIES = Set.of(
            EventFlag.UNINSTALLS_AUDIT.wireName(),
            EventFlag.UNINSTALLS_PASSWORD_CHECK.wireName(),
            EventFlag.UNINSTALLS_LOGIN_GUARD.wireName(),
            EventFlag.UNINSTALLS_OTHER.wireName());
    private static final Set<String> AUDIT_LIBRARY = Set.of(EventFlag.UNINSTALLS_AUDIT.wireName());
    private static final List<String> PURGES =
            List.of("purge binary logs", "purge master logs", "reset master", "reset binary logs");
    /** Ends of {@code PURGE BINARY LOGS BEFORE NOW() - INTERVAL 7 DAY}, a regular cleanup. */
    private static final List<String> AGES = List.of("interval ? day", "interval ? week", "interval ? month");

    private static final List<String> SCOPES = List.of("global", "persist", "sql_log_bin");
    private static final List<String> GLOBAL = List.of("global", "persist");
    /** A value that dumps and tools restore; the names of other variables do not show their value. */
    private static final Pattern RESTORED = Pattern.compile("= ?@`?("
            + "(old|orig|prev|saved?|sess)_(sql_log_bin|general_log|slow_query_log|log_\\w+)"
            + "|mysqldump_temp_log_bin|mysqlx_old_log_bin)\\b");

    private static final String ROTATION = "server_audit_file_rotate_now";
    private static final String SYSTEM = "mysql.";

    /** Returns the operations of a successful statement; usually none. */
    static Set<PrivilegedOperation> of(DetectionEvent event) {
        String statement = DetectorEventFields.statement(event);
        boolean isPlain = begins(statement, PLAIN);
        if (isPlain && !touchesSystem(event) && !mayWriteFiles(statement)) {
            return Set.of();
        }
        Set<PrivilegedOperation> operations = EnumSet.noneOf(PrivilegedOperation.class);
        if (begins(statement, OF_ACCOUNTS) && !changesOwnAccount(event) || preparesGiving(event)) {
            operations.add(ACCOUNTS);
        } else if (begins(statement, OF_SERVER)) {
            operations.add(SERVER);
        } else if (begins(statement, OF_DROPS)) {
            operations.add(DROPS);
        } else if (holds(statement, OF_FILES)) {
            operations.add(FILES);
        }
        if (touchesSystem(event)) {
            operations.add(SYSTEM_TABLES);
        }
        return operations;
    }

    /** Cheap first test, because nearly no statement writes files. */
    private static boolean mayWriteFiles(String statement) {
        return statement.startsWith("select") && (statement.contains("into ") || statement.contains("load_file"));
    }

    /** Returns whether an account or a privilege is given. */
    static boolean isGiving(DetectionEvent event) {
        String statement = DetectorEventFields.statement(event);
        return begins(statement, GIVING) && !changesOwnAccount(event) && !givesObject(statement)
                || preparesGiving(event);
    }

    /** Returns whether the statement only sets or discards the password of another account. */
    static boolean isPasswordOnly(DetectionEvent event) {
        return isPasswordOnly(DetectorEventFields.statement(event)) && !changesOwnAccount(event);
    }

    /** @param statement without its literals, in lower case */
    static boolean isPasswordOnly(String statement) {
        return begins(statement, CHANGING) && PASSWORD_ONLY.matcher(statement).matches();
    }

    /** Returns whether the oldest binary logs are purged, and not all of them. */
    static boolean isPurge(DetectionEvent event) {
        return DetectorEventFields.statement(event).startsWith("purge ");
    }

    private static boolean givesObject(String statement) {
        return statement.startsWith("grant ")
                && !statement.endsWith("with grant option")
                && GIVING_OBJECT.matcher(statement).matches();
    }

    /** Returns whether the statement changes only the account that runs it: every user may set their own password. */
    static boolean changesOwnAccount(DetectionEvent event) {
        List<FieldValue> targets = event.values("target_user");
        List<FieldValue> users = event.values("user");
        return targets.size() == 1
                && !users.isEmpty()
                && !mayConcernOthers(event)
                && targets.get(0).text().equals(users.get(0).text())
                && begins(DetectorEventFields.statement(event), CHANGING);
    }

    /** Returns whether the statement may concern other accounts than those that the event names. */
    static boolean mayConcernOthers(DetectionEvent event) {
        return hasFlag(event, NAMES_NOT_ALL);
    }

    /** Returns whether the accounts that the statement names may be roles. Roles have no host, or each. */
    static boolean mayNameRoles(DetectionEvent event) {
        boolean toRoles = begins(DetectorEventFields.statement(event), TO_ROLES) || preparesGiving(event);
        List<FieldValue> accounts = event.values("target_account");
        return toRoles && (accounts.isEmpty() || !accounts.stream().allMatch(PrivilegedOperation::isOfCertainHosts));
    }

    private static boolean isOfCertainHosts(FieldValue account) {
        String text = account.text();
        String host = text.substring(text.lastIndexOf('@') + 1);
        return host.length() < text.length() && !host.isEmpty() && !host.equals("%") && !host.endsWith("`");
    }

    private static boolean preparesGiving(DetectionEvent event) {
        return hasFlag(event, PREPARED_GIVING);
    }

    private static boolean hasFlag(DetectionEvent event, Set<String> wanted) {
        List<FieldValue> flags = event.values("flag");
        for (int i = 0; i < flags.size(); i++) {
            if (wanted.contains(flags.get(i).text())) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether a log is switched off, moved or purged. */
    static boolean isTampering(DetectionEvent event) {
        String statement = DetectorEventFields.statement(event);
        if (statement.startsWith("set ")) {
            return holds(statement, LOGS) && holds(statement, SCOPES) && worsens(event, statement);
        }
        if (statement.startsWith("uninstall ")) {
            boolean unknown = holds(statement, List.of("?")) && !hasFlag(event, LIBRARIES);
            return unknown || holds(statement, List.of("audit")) || hasFlag(event, AUDIT_LIBRARY);
        }
        return begins(statement, PURGES) && !holds(statement, AGES);
    }

    /** Returns whether a setting of a log is off, moved or has an unknown value. Switching a log on does not count. */
    private static boolean worsens(DetectionEvent event, String statement) {
        if (holds(statement, LOGS_MOVED)) {
            return true;
        }
        boolean isFlagged = hasFlag(event, LOG_SETTING);
        boolean global = holds(statement, GLOBAL); // SET @old = @@sql_log_bin changes nothing
        if (!global && RESTORED.matcher(statement).find()) {
            return false;
        }
        return isFlagged ? hasFlag(event, LOG_OFF) : global && !holds(statement, List.of(ROTATION));
    }

    private static boolean hasFlag(DetectionEvent event, Pattern wanted) {
        return event.values("flag").stream()
                .anyMatch(flag -> wanted.matcher(flag.text()).matches());
    }

    private static boolean begins(String statement, List<String> beginnings) {
        for (int i = 0; i < beginnings.size(); i++) {
            if (statement.startsWith(beginnings.get(i))) {
                return true;
            }
        }
        return false;
    }

    private static boolean holds(String statement, List<String> parts) {
        for (int i = 0; i < parts.size(); i++) {
            if (statement.contains(parts.get(i))) {
                return true;
            }
        }
        return false;
    }

    private static boolean touchesSystem(DetectionEvent event) {
        List<FieldValue> tables = event.values("table");
        for (int i = 0; i < tables.size(); i++) {
            if (tables.get(i).text().startsWith(SYSTEM)) {
                return true;
            }
        }
        return false;
    }

    public int bit() {
        return 1 << ordinal();
    }

    String key() {
        return name().toLowerCase(Locale.ROOT);
    }
}
