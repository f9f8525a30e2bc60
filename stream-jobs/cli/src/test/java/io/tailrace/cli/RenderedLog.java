package io.tailrace.cli;

import static java.util.stream.Collectors.joining;

import io.tailrace.cli.DatabaseOperation.Kind;
import io.tailrace.json.AvroJsonWriter;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The same deeds as servers write them into logs of each format. */
final class RenderedLog {

    private static final DateTimeFormatter COMPACT = time("yyyyMMdd HH:mm:ss");
    private static final DateTimeFormatter SECONDS = time("yyyy-MM-dd'T'HH:mm:ss");
    private static final DateTimeFormatter SPACED = time("yyyy-MM-dd HH:mm:ss");
    private static final DateTimeFormatter MICROS = time("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'");

    /** What a format makes of one deed; nothing where it does not record it. */
    interface Writer {

        String of(DatabaseOperation deed);
    }

    private RenderedLog() {}

    /** By the name of the format. */
    static Map<String, Writer> writers() {
        Map<String, Writer> writers = new LinkedHashMap<>();
        writers.put("percona-audit-json", deed -> "{\"audit_record\":" + json(plugin(deed, true)) + "}\n");
        writers.put("percona-audit-xml-old", deed -> old(plugin(deed, true)));
        writers.put("percona-audit-xml-new", deed -> elements(plugin(deed, true)));
        writers.put("percona-audit-csv", RenderedLog::csv);
        writers.put(
                "percona-audit-syslog",
                deed -> "Nov 21 " + time("HH:mm:ss").format(deed.time()) + " db1 percona-audit: " + "{\"audit_record\":"
                        + json(plugin(deed, true)) + "}\n");
        writers.put("percona-audit-filter-json", deed -> filterJson(deed, true) + ",\n");
        writers.put("percona-audit-filter-xml-old", deed -> old(plugin(deed, false)));
        writers.put("percona-audit-filter-xml-new", deed -> elements(plugin(deed, false)));
        writers.put("mysql-enterprise-audit-json", deed -> filterJson(deed, false) + ",\n");
        writers.put("mysql-enterprise-audit-xml-old", deed -> old(plugin(deed, false)));
        writers.put("mysql-enterprise-audit-xml-new", deed -> elements(plugin(deed, false)));
        writers.put("mcafee-audit-json", RenderedLog::mcAfee);
        writers.put("mariadb-audit", deed -> COMPACT.format(deed.time()) + ',' + mariaDb(deed));
        writers.put(
                "mariadb-audit-syslog",
                deed -> SECONDS.format(deed.time()) + "Z db1 mysql-server_auditing: " + mariaDb(deed));
        writers.put("aurora-audit", deed -> deed.time().getEpochSecond() + "000000," + mariaDb(deed));
        writers.put("mysql-general", RenderedLog::general);
        writers.put("mysql-slow", new SlowLogWriter());
        writers.put("mysql-error", RenderedLog::error);
        return writers;
    }

    static String of(Writer writer, List<DatabaseOperation> deeds) {
        return deeds.stream().map(writer::of).collect(joining());
    }

    static DateTimeFormatter time(String pattern) {
        return DateTimeFormatter.ofPattern(pattern).withZone(ZoneOffset.UTC);
    }

    private static String name(DatabaseOperation deed) {
        return switch (deed.kind()) {
            case LOGIN -> "Connect";
            case CHANGE_OF_USER -> "Change user";
            case STATEMENT -> "Query";
            case LOGOUT -> "Quit";
        };
    }

    private static String commandClass(DatabaseOperation deed) {
        String first =
                deed.statement().replaceFirst("^/\\*.*?\\*/ ", "").split(" ")[0].toLowerCase();
        return first.equals("use") ? "change_db" : first;
    }

    /** Members of Percona's plugin, and of others that know the same ones. */
    private static Map<String, String> plugin(DatabaseOperation deed, boolean databaseOfStatements) {
        Map<String, String> members = new LinkedHashMap<>();
        members.put("name", name(deed));
        members.put("record", deed.connection() + "_2026-11-21T02:00:00");
        members.put("timestamp", SECONDS.format(deed.time()) + (databaseOfStatements ? " UTC" : ""));
        boolean statement = deed.kind() == Kind.STATEMENT;
        if (statement) {
            members.put("command_class", commandClass(deed));
        }
        members.put("connection_id", "" + deed.connection());
        members.put("status", "" + deed.status());
        String user = deed.account().user();
        if (statement) {
            members.put("sqltext", deed.statement());
            members.put(
                    "user",
                    user + '[' + user + "] @ " + deed.account().host() + " ["
                            + deed.account().address() + ']');
            members.put("host", deed.account().host());
            members.put("os_user", "");
        } else {
            members.put("user", user);
            members.put("priv_user", deed.failed() ? "" : user);
            members.put("os_login", "");
            members.put("proxy_user", "");
            members.put("host", deed.account().host());
        }
        members.put("ip", deed.account().address());
        if (databaseOfStatements || deed.isLogin()) {
            members.put("db", deed.database());
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

    private static String csv(DatabaseOperation deed) {
        return plugin(deed, true).entrySet().stream()
                .map(column -> column.getKey().equals("status")
                        ? column.getValue()
                        : '"' + column.getValue().replace("\"", "\"\"") + '"')
                .collect(joining(",", "", "\n"));
    }

    /** @param lines a member on each line, as Percona writes them */
    private static String filterJson(DatabaseOperation deed, boolean lines) {
        String between = lines ? ",\n    " : ", ";
        String user = deed.account().user();
        String mapped = deed.account().address().equals("10.0.0.9")
                ? "::ffff:10.0.0.9"
                : deed.account().address();
        String head = List.of(
                        "\"timestamp\": \"" + SPACED.format(deed.time()) + '"',
                        "\"id\": 7",
                        "\"class\": \"" + (deed.kind() == Kind.STATEMENT ? "general" : "connection") + '"',
                        "\"event\": \"" + event(deed) + '"',
                        "\"connection_id\": " + deed.connection(),
                        "\"account\": { \"user\": " + quoted(user) + ", \"host\": "
                                + quoted(deed.account().from()) + " }",
                        "\"login\": { \"user\": " + quoted(user) + ", \"os\": \"\", \"ip\": \"" + mapped
                                + "\", \"proxy\": \"\" }")
                .stream()
                .collect(joining(between));
        return (lines ? "  {\n    " : "{ ") + head + between + data(deed) + (lines ? "\n  }" : " }");
    }

    private static String event(DatabaseOperation deed) {
        return switch (deed.kind()) {
            case LOGIN -> "connect";
            case CHANGE_OF_USER -> "change_user";
            case STATEMENT -> "status";
            case LOGOUT -> "disconnect";
        };
    }

    private static String data(DatabaseOperation deed) {
        if (deed.kind() == Kind.STATEMENT) {
            return "\"general_data\": { \"command\": \"Query\", \"sql_command\": \"" + commandClass(deed)
                    + "\", \"query\": " + quoted(deed.statement()) + ", \"status\": " + deed.status() + " }";
        }
        String type = deed.account().isLocal() ? "socket" : "tcp/ip";
        return "\"connection_data\": { \"connection_type\": \"" + type + "\", \"status\": " + deed.status()
                + ", \"db\": " + quoted(deed.database()) + " }";
    }

    private static String mcAfee(DatabaseOperation deed) {
        Map<String, String> members = new LinkedHashMap<>();
        members.put("msg-type", "activity");
        members.put("date", "" + deed.time().toEpochMilli());
        members.put("thread-id", "" + deed.connection());
        members.put("user", deed.account().user());
        members.put("priv_user", deed.account().user());
        members.put("ip", deed.account().address());
        members.put("host", deed.account().from());
        if (deed.kind() == Kind.STATEMENT) {
            members.put("cmd", commandClass(deed));
        } else {
            members.put("cmd", deed.failed() ? "Failed Login" : name(deed));
        }
        String plain = members.entrySet().stream()
                .map(member -> quoted(member.getKey()) + ':' + quoted(member.getValue()))
                .collect(joining(","));
        String query = deed.statement() == null ? members.get("cmd") : deed.statement();
        return "{" + plain + ",\"status\":\"" + deed.status() + "\"" + objects(deed) + ",\"query\":" + quoted(query)
                + "}\n";
    }

    /** What the statement opens: what it writes first. The plugin tells it of statements only. */
    private static String objects(DatabaseOperation deed) {
        if (deed.statement() != null && deed.statement().startsWith("USE ")) {
            return ",\"objects\":[{\"db\":" + quoted(deed.database()) + ",\"obj_type\":\"DATABASE\"}]";
        }
        String objects = Stream.concat(deed.writes().stream(), deed.reads().stream())
                .map(table -> table.split("\\."))
                .map(table ->
                        "{\"db\":" + quoted(table[0]) + ",\"name\":" + quoted(table[1]) + ",\"obj_type\":\"TABLE\"}")
                .collect(joining(","));
        return objects.isEmpty() ? "" : ",\"objects\":[" + objects + "]";
    }

    private static String mariaDb(DatabaseOperation deed) {
        String from = deed.account().from().equals("10.0.0.9")
                ? "10.0.0.9:51123"
                : deed.account().from();
        String head = "db1," + deed.account().user() + ',' + from + ',' + deed.connection() + ','
                + deed.time().getEpochSecond() + ',';
        return head
                + switch (deed.kind()) {
                    case LOGIN -> (deed.failed() ? "FAILED_CONNECT," : "CONNECT,") + deed.database() + ",,"
                            + deed.status();
                    case CHANGE_OF_USER -> "CHANGEUSER," + deed.database() + ",," + deed.status();
                    case LOGOUT -> "DISCONNECT," + deed.database() + ",,0";
                    case STATEMENT -> "QUERY," + deed.database() + ",'"
                            + deed.statement()
                                    .replace("\\", "\\\\")
                                    .replace("'", "\\'")
                                    .replace("\n", "\\n") + "',"
                            + deed.status();
                }
                + '\n';
    }

    private static String general(DatabaseOperation deed) {
        String account = deed.account().user() + '@' + deed.account().from();
        String using = deed.account().isLocal() ? "Socket" : "TCP/IP";
        String argument =
                switch (deed.kind()) {
                    case LOGIN, CHANGE_OF_USER -> account + " on " + deed.database() + " using " + using;
                    case STATEMENT -> deed.statement();
                    case LOGOUT -> "";
                };
        String line = generalLine(deed, name(deed), argument);
        return deed.isLogin() && deed.failed() ? line + generalLine(deed, "Connect", denied(deed)) : line;
    }

    private static String generalLine(DatabaseOperation deed, String command, String argument) {
        return MICROS.format(deed.time()) + "\t" + String.format("%5d ", deed.connection()) + command + '\t' + argument
                + '\n';
    }

    private static String denied(DatabaseOperation deed) {
        return "Access denied for user '" + deed.account().user() + "'@'"
                + deed.account().from() + "' (using password: YES)";
    }

    private static String error(DatabaseOperation deed) {
        return deed.isLogin() && deed.failed()
                ? MICROS.format(deed.time()) + ' ' + deed.connection() + " [Note] [MY-010926] [Server] " + denied(deed)
                        + '\n'
                : "";
    }

    /** MySQL's, which names a database where it differs from the last one that the log names. */
    private static final class SlowLogWriter implements Writer {

        private String database = "";

        @Override
        public String of(DatabaseOperation deed) {
            if (deed.kind() != Kind.STATEMENT) {
                return "";
            }
            String use = deed.database().equals(database) ? "" : "use " + deed.database() + ";\n";
            database = deed.database();
            String user = deed.account().user();
            return "# Time: " + MICROS.format(deed.time()) + '\n'
                    + "# User@Host: " + user + '[' + user + "] @ "
                    + deed.account().host() + " [" + deed.account().address()
                    + "]  Id: " + deed.connection() + '\n'
                    + "# Query_time: 0.000099  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n"
                    + use
                    + "SET timestamp=" + deed.time().getEpochSecond() + ";\n"
                    + deed.statement() + ";\n";
        }
    }
}
