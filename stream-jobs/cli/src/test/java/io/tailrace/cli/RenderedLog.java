package io.tailrace.cli;

import static java.util.stream.Collectors.joining;

import io.tailrace.cli.DatabaseOperation.Kind;
import io.tailrace.json.AvroJsonWriter;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Writes the same operations in the form of each log format. */
final class RenderedLog {

    private static final DateTimeFormatter COMPACT = time("yyyyMMdd HH:mm:ss");
    private static final DateTimeFormatter SECONDS = time("yyyy-MM-dd'T'HH:mm:ss");
    private static final DateTimeFormatter SPACED = time("yyyy-MM-dd HH:mm:ss");
    private static final DateTimeFormatter MICROS = time("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'");

    private static final Pattern VERB = Pattern.compile("^(?:/\\*(?![!M]).*?\\*/|[\\s(]|/\\*M?!\\d*)*([A-Za-z]+)");

    /** Formats one operation; empty if the format does not record it. */
    interface Writer {

        String of(DatabaseOperation operation);
    }

    private RenderedLog() {}

    /** Returns the writers by the name of the format. */
    static Map<String, Writer> writers() {
        Map<String, Writer> writers = new LinkedHashMap<>();
        writers.put("percona-audit-json", operation -> "{\"audit_record\":" + json(plugin(operation, true)) + "}\n");
        writers.put("percona-audit-xml-old", operation -> old(plugin(operation, true)));
        writers.put("percona-audit-xml-new", operation -> elements(plugin(operation, true)));
        writers.put("percona-audit-csv", RenderedLog::csv);
        writers.put(
                "percona-audit-syslog",
                operation -> "Nov 21 " + time("HH:mm:ss").format(operation.time()) + " db1 percona-audit: "
                        + "{\"audit_record\":" + json(plugin(operation, true)) + "}\n");
        writers.put("percona-audit-filter-json", operation -> filterJson(operation, true) + ",\n");
        writers.put("percona-audit-filter-xml-old", operation -> old(plugin(operation, false)));
        writers.put("percona-audit-filter-xml-new", operation -> elements(plugin(operation, false)));
        writers.put("mysql-enterprise-audit-json", operation -> filterJson(operation, false) + ",\n");
        writers.put("mysql-enterprise-audit-xml-old", operation -> old(plugin(operation, false)));
        writers.put("mysql-enterprise-audit-xml-new", operation -> elements(plugin(operation, false)));
        writers.put("mcafee-audit-json", RenderedLog::mcAfee);
        writers.put("mariadb-audit", operation -> COMPACT.format(operation.time()) + ',' + mariaDb(operation));
        writers.put(
                "mariadb-audit-syslog",
                operation -> SECONDS.format(operation.time()) + "Z db1 mysql-server_auditing: " + mariaDb(operation));
        writers.put("aurora-audit", operation -> operation.time().getEpochSecond() + "000000," + mariaDb(operation));
        writers.put("mysql-general", RenderedLog::general);
        writers.put("mysql-slow", new SlowLogWriter());
        writers.put("mysql-error", RenderedLog::error);
        return writers;
    }

    static String of(Writer writer, List<DatabaseOperation> operations) {
        return operations.stream().map(writer::of).collect(joining());
    }

    static DateTimeFormatter time(String pattern) {
        return DateTimeFormatter.ofPattern(pattern).withZone(ZoneOffset.UTC);
    }

    private static String name(DatabaseOperation operation) {
        return switch (operation.kind()) {
            case LOGIN -> "Connect";
            case CHANGE_OF_USER -> "Change user";
            case STATEMENT -> "Query";
            case LOGOUT -> "Quit";
        };
    }

    private static String commandClass(DatabaseOperation operation) {
        Matcher verb = VERB.matcher(operation.statement());
        String first = verb.find() ? verb.group(1).toLowerCase(Locale.ROOT) : "error";
        return first.equals("use") ? "change_db" : first;
    }

    /** Returns the members of Percona's plugin, and of other plugins with the same ones. */
    private static Map<String, String> plugin(DatabaseOperation operation, boolean databaseOfStatements) {
        Map<String, String> members = new LinkedHashMap<>();
        members.put("name", name(operation));
        members.put("record", operation.connection() + "_2026-11-21T02:00:00");
        members.put("timestamp", SECONDS.format(operation.time()) + (databaseOfStatements ? " UTC" : ""));
        boolean statement = operation.kind() == Kind.STATEMENT;
        if (statement) {
            members.put("command_class", commandClass(operation));
        }
        members.put("connection_id", "" + operation.connection());
        members.put("status", "" + operation.status());
        String user = operation.account().user();
        if (statement) {
            members.put("sqltext", operation.statement());
            members.put(
                    "user",
                    user + '[' + user + "] @ " + operation.account().host() + " ["
                            + operation.account().address() + ']');
            members.put("host", operation.account().host());
            members.put("os_user", "");
        } else {
            members.put("user", user);
            members.put("priv_user", operation.failed() ? "" : user);
            members.put("os_login", "");
            members.put("proxy_user", "");
            members.put("host", operation.account().host());
        }
        members.put("ip", operation.account().address());
        if (databaseOfStatements || operation.isLogin()) {
            members.put("db", operation.database());
        }
        return members;
    }

    private static String json(Map<String, String> members) {
        return members.entrySet().stream()
                .map(member -> quoted(member.getKey())
                        + ':'
                        + (member.getKey().equals("status") ? member.getValue() : quoted(member.getValue())))
                .collect(joining(",", "{", "}"));
    }

    private static String quoted(String text) {
        StringBuilder json = new StringBuilder();
        AvroJsonWriter.quote(text, json);
        return json.toString();
    }

    private static String old(Map<String, String> members) {
        return members.entrySet().stream()
                .map(member -> "  " + member.getKey().toUpperCase() + "=\"" + escaped(member.getValue()) + '"')
                .collect(joining("\n", "<AUDIT_RECORD\n", "/>\n"));
    }

    private static String elements(Map<String, String> members) {
        return members.entrySet().stream()
                .map(member -> {
                    String name = member.getKey().toUpperCase();
                    return "  <" + name + '>' + escaped(member.getValue()) + "</" + name + '>';
                })
                .collect(joining("\n", "<AUDIT_RECORD>\n", "\n</AUDIT_RECORD>\n"));
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("\n", "&#10;");
    }

    private static String csv(DatabaseOperation operation) {
        return plugin(operation, true).entrySet().stream()
                .map(column -> column.getKey().equals("status")
                        ? column.getValue()
                        : '"' + column.getValue().replace("\"", "\"\"") + '"')
                .collect(joining(",", "", "\n"));
    }

    /** @param lines a member on each line, as Percona writes them */
    private static String filterJson(DatabaseOperation operation, boolean lines) {
        String between = lines ? ",\n    " : ", ";
        String user = operation.account().user();
        String mapped = operation.account().address().equals("10.0.0.9")
                ? "::ffff:10.0.0.9"
                : operation.account().address();
        String head = List.of(
                        "\"timestamp\": \"" + SPACED.format(operation.time()) + '"',
                        "\"id\": 7",
                        "\"class\": \"" + (operation.kind() == Kind.STATEMENT ? "general" : "connection") + '"',
                        "\"event\": \"" + event(operation) + '"',
                        "\"connection_id\": " + operation.connection(),
                        "\"account\": { \"user\": " + quoted(user) + ", \"host\": "
                                + quoted(operation.account().from()) + " }",
                        "\"login\": { \"user\": " + quoted(user) + ", \"os\": \"\", \"ip\": \"" + mapped
                                + "\", \"proxy\": \"\" }")
                .stream()
                .collect(joining(between));
        return (lines ? "  {\n    " : "{ ") + head + between + data(operation) + (lines ? "\n  }" : " }");
    }

    private static String event(DatabaseOperation operation) {
        return switch (operation.kind()) {
            case LOGIN -> "connect";
            case CHANGE_OF_USER -> "change_user";
            case STATEMENT -> "status";
            case LOGOUT -> "disconnect";
        };
    }

    private static String data(DatabaseOperation operation) {
        if (operation.kind() == Kind.STATEMENT) {
            return "\"general_data\": { \"command\": \"Query\", \"sql_command\": \"" + commandClass(operation)
                    + "\", \"query\": " + quoted(operation.statement()) + ", \"status\": " + operation.status() + " }";
        }
        String type = operation.account().isLocal() ? "socket" : "tcp/ip";
        return "\"connection_data\": { \"connection_type\": \"" + type + "\", \"status\": " + operation.status()
                + ", \"db\": " + quoted(operation.database()) + " }";
    }

    private static String mcAfee(DatabaseOperation operation) {
        Map<String, String> members = new LinkedHashMap<>();
        members.put("msg-type", "activity");
        members.put("date", "" + operation.time().toEpochMilli());
        members.put("thread-id", "" + operation.connection());
        members.put("user", operation.account().user());
        members.put("priv_user", operation.account().user());
        members.put("ip", operation.account().address());
        members.put("host", operation.account().from());
        if (operation.kind() == Kind.STATEMENT) {
            members.put("cmd", commandClass(operation));
        } else {
            members.put("cmd", operation.failed() ? "Failed Login" : name(operation));
        }
        String plain = members.entrySet().stream()
                .map(member -> quoted(member.getKey()) + ':' + quoted(member.getValue()))
                .collect(joining(","));
        String query = operation.statement() == null ? members.get("cmd") : operation.statement();
        return "{" + plain + ",\"status\":\"" + operation.status() + "\"" + objects(operation) + ",\"query\":"
                + quoted(query) + "}\n";
    }

    /**
     * Returns the objects that the statement opens: first the written ones. The plugin logs them for statements only.
     */
    private static String objects(DatabaseOperation operation) {
        if (operation.statement() != null && operation.statement().startsWith("USE ")) {
            return ",\"objects\":[{\"db\":" + quoted(operation.database()) + ",\"obj_type\":\"DATABASE\"}]";
        }
        String objects = Stream.concat(operation.writes().stream(), operation.reads().stream())
                .map(table -> table.split("\\."))
                .map(table ->
                        "{\"db\":" + quoted(table[0]) + ",\"name\":" + quoted(table[1]) + ",\"obj_type\":\"TABLE\"}")
                .collect(joining(","));
        return objects.isEmpty() ? "" : ",\"objects\":[" + objects + "]";
    }

    private static String mariaDb(DatabaseOperation operation) {
        String from = operation.account().from().equals("10.0.0.9")
                ? "10.0.0.9:51123"
                : operation.account().from();
        String head = "db1," + operation.account().user() + ',' + from + ',' + operation.connection() + ','
                + operation.time().getEpochSecond() + ',';
        return head
                + switch (operation.kind()) {
                    case LOGIN -> (operation.failed() ? "FAILED_CONNECT," : "CONNECT,") + operation.database() + ",,"
                            + operation.status();
                    case CHANGE_OF_USER -> "CHANGEUSER," + operation.database() + ",," + operation.status();
                    case LOGOUT -> "DISCONNECT," + operation.database() + ",,0";
                    case STATEMENT -> "QUERY," + operation.database() + ",'"
                            + operation
                                    .statement()
                                    .replace("\\", "\\\\")
                                    .replace("'", "\\'")
                                    .replace("\n", "\\n") + "',"
                            + operation.status();
                }
                + '\n';
    }

    private static String general(DatabaseOperation operation) {
        String account = operation.account().user() + '@' + operation.account().from();
        String using = operation.account().isLocal() ? "Socket" : "TCP/IP";
        String argument =
                switch (operation.kind()) {
                    case LOGIN, CHANGE_OF_USER -> account + " on " + operation.database() + " using " + using;
                    case STATEMENT -> operation.statement();
                    case LOGOUT -> "";
                };
        String line = generalLine(operation, name(operation), argument);
        return operation.isLogin() && operation.failed()
                ? line + generalLine(operation, "Connect", denied(operation))
                : line;
    }

    private static String generalLine(DatabaseOperation operation, String command, String argument) {
        return MICROS.format(operation.time()) + "\t" + String.format("%5d ", operation.connection()) + command + '\t'
                + argument + '\n';
    }

    private static String denied(DatabaseOperation operation) {
        return "Access denied for user '" + operation.account().user() + "'@'"
                + operation.account().from() + "' (using password: YES)";
    }

    private static String error(DatabaseOperation operation) {
        return operation.isLogin() && operation.failed()
                ? MICROS.format(operation.time()) + ' ' + operation.connection() + " [Note] [MY-010926] [Server] "
                        + denied(operation) + '\n'
                : "";
    }

    /** Writes MySQL's slow log, which names a database if it differs from the last one in the log. */
    private static final class SlowLogWriter implements Writer {

        private String database = "";

        @Override
        public String of(DatabaseOperation operation) {
            if (operation.kind() != Kind.STATEMENT) {
                return "";
            }
            String use = operation.database().equals(database) ? "" : "use " + operation.database() + ";\n";
            database = operation.database();
            String user = operation.account().user();
            return "# Time: " + MICROS.format(operation.time()) + '\n'
                    + "# User@Host: " + user + '[' + user + "] @ "
                    + operation.account().host() + " [" + operation.account().address()
                    + "]  Id: " + operation.connection() + '\n'
                    + "# Query_time: 0.000099  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n"
                    + use
                    + "SET timestamp=" + operation.time().getEpochSecond() + ";\n"
                    + operation.statement() + ";\n";
        }
    }
}
