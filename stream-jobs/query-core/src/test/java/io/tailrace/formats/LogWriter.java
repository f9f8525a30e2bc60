package io.tailrace.formats;

import io.tailrace.framing.LogFormat;
import io.tailrace.json.AvroJsonWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Writes a statement like a server, with the escapes of its format.
 *
 * @param entry creates one entry; it writes user and database if the server writes them with each statement
 */
record LogWriter(String format, Entry entry) {

    /** Creates an entry; escapes each value as the server does, which may write names as they are. */
    @FunctionalInterface
    interface Entry {

        String of(String statement, String user, String database);
    }

    /** Replaces everything that is not part of the statement and must not be shown either. */
    static final String SECRET = "zq7secret";

    private static final String MARK = "zzmarkzz";
    /** A format that escapes statements escapes at least one of these characters. */
    private static final String ESCAPED = "'\"\\\n<";

    /**
     * Returns a writer for each format. Add the writer of a format of the kind slowlog, general or errorlog here, and
     * that of an audit format to {@link #ofAudit}. A writer escapes quotes, line feeds and tabs as the server does.
     */
    static List<LogWriter> all() {
        LogWriter slow = new LogWriter(
                "mysql-slow",
                (sql, user, database) -> "# Time: 2026-11-21T02:49:03.496201Z\n# User@Host: " + account(user)
                        + "  Id:     8\n"
                        + "# Query_time: 0.000099  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n"
                        + "use " + database + ";\nSET timestamp=1795229343;\n" + sql + ";\n");
        LogWriter general = new LogWriter(
                "mysql-general", (sql, user, database) -> "2026-11-21T02:49:03.100000Z\t    8 Query\t" + sql + "\n");
        LogWriter error = new LogWriter(
                "mysql-error",
                (sql, user, database) ->
                        "2026-11-21T02:51:07.023167Z 4 [ERROR] Slave SQL for channel '': Error 'Duplicate entry 'zq7secret'"
                                + " for key 'PRIMARY'' on query. Default database: '" + database + "'. Query: '" + sql
                                + "', Error_code: 1062\n");
        return Stream.concat(Stream.of(slow, general, error), ofAudit().stream())
                .toList();
    }

    /** Returns the writers of the formats that escape or quote statements, of any kind. */
    static List<LogWriter> escaping() {
        return all().stream()
                .filter(writer -> !writer.escaped(ESCAPED).equals(ESCAPED))
                .toList();
    }

    /** Returns a writer for each format of the kind audit, which {@link #all} includes. */
    static List<LogWriter> ofAudit() {
        Map<String, Entry> writers = new LinkedHashMap<>();
        mariaDb(writers, "mariadb-audit", "20261121 02:44:18,", "',0\n");
        mariaDb(writers, "mariadb-audit-syslog", "2026-11-21T02:44:18Z vm mysql-server_auditing: ", "',0\n");
        mariaDb(writers, "aurora-audit", "1767323046000123,", "\n");
        writers.put("percona-audit-json", LogWriter::pluginJson);
        writers.put(
                "percona-audit-syslog",
                (sql, user, database) -> "Jan  2 03:04:05 db1 percona-audit: " + pluginJson(sql, user, database));
        writers.put("percona-audit-csv", LogWriter::csv);
        writers.put("percona-audit-xml-old", (sql, user, database) -> xmlAttributes(sql, user, attribute(database)));
        writers.put("percona-audit-xml-new", (sql, user, database) -> xmlElements(sql, user, element(database)));
        for (String format : List.of("percona-audit-filter-xml-old", "mysql-enterprise-audit-xml-old")) {
            writers.put(format, (sql, user, database) -> xmlAttributes(sql, user, ""));
        }
        for (String format : List.of("percona-audit-filter-xml-new", "mysql-enterprise-audit-xml-new")) {
            writers.put(format, (sql, user, database) -> xmlElements(sql, user, ""));
        }
        for (String format : List.of("percona-audit-filter-json", "mysql-enterprise-audit-json")) {
            writers.put(format, (sql, user, database) -> filterJson(sql, user));
        }
        writers.put("mcafee-audit-json", LogWriter::mcAfee);
        return writers.entrySet().stream()
                .map(writer -> new LogWriter(writer.getKey(), writer.getValue()))
                .toList();
    }

    /** Writes {@code priv_user[user] @ host [ip]}, with a name as it is. */
    private static String account(String user) {
        return user + '[' + user + "] @ localhost []";
    }

    /** Adds a writer of MariaDB's plugin, which escapes the statement only: names are written as they are. */
    private static void mariaDb(Map<String, Entry> writers, String format, String time, String end) {
        writers.put(
                format,
                (sql, user, database) ->
                        time + "vm," + user + ",localhost,4,1,QUERY," + database + ",'" + mariaDb(sql) + end);
    }

    private static String csv(String sql, String user, String database) {
        return "\"Query\",\"4_2026-11-21T02:50:36\",\"2026-11-21T02:50:38 UTC\",\"select\",\"4\",0,\"" + doubled(sql)
                + "\",\"" + doubled(account(user)) + "\",\"localhost\",\"\",\"\",\"" + doubled(database) + "\"\n";
    }

    private static String doubled(String text) {
        return text.replace("\"", "\"\"");
    }

    private static String xmlAttributes(String sql, String user, String database) {
        return "<AUDIT_RECORD\n  NAME=\"Query\"\n  RECORD_ID=\"4_x\"\n"
                + "  TIMESTAMP=\"2026-11-21T02:50:38 UTC\"\n  SQLTEXT=\"" + xml(sql)
                + "\"\n  REWRITTEN_QUERY=\""
                + xml(sql) + "\"\n  VARIABLE_VALUE=\"" + SECRET + "\"\n  UNKNOWN=\"" + SECRET + "\"\n  USER=\""
                + xml(account(user)) + "\"\n  HOST=\"localhost\"\n" + database + "/>\n";
    }

    private static String attribute(String database) {
        return "  DB=\"" + xml(database) + "\"\n";
    }

    private static String xmlElements(String sql, String user, String database) {
        return "<AUDIT_RECORD>\n  <NAME>Query</NAME>\n  <RECORD_ID>4_x</RECORD_ID>\n"
                + "  <TIMESTAMP>2026-11-21T02:50:38 UTC</TIMESTAMP>\n  <SQLTEXT>" + xml(sql)
                + "</SQLTEXT>\n"
                + "  <MESSAGE>" + SECRET + "</MESSAGE>\n  <MAP><ELEMENT><KEY>" + SECRET + "</KEY><VALUE>"
                + SECRET
                + "</VALUE></ELEMENT></MAP>\n  <UNKNOWN>" + SECRET + "</UNKNOWN>\n  <USER>" + xml(account(user))
                + "</USER>\n  <HOST>localhost</HOST>\n" + database + "</AUDIT_RECORD>\n";
    }

    private static String element(String database) {
        return "  <DB>" + xml(database) + "</DB>\n";
    }

    private static String filterJson(String sql, String user) {
        String name = json(user);
        return "{ \"timestamp\": \"2026-11-21 02:50:38\", \"id\": 1, \"class\": \"general\", "
                + "\"account\": { \"user\": \"" + name + "\", \"host\": \"localhost\" }, \"login\": { \"user\": \""
                + name + "\", \"os\": \"\", \"ip\": \"\", \"proxy\": \"\" }, "
                + "\"general_data\": { \"command\": \"Query\", \"query\": \"" + json(sql)
                + "\", \"new\": \"" + SECRET
                + "\" }, \"parse_data\": { \"rewritten_query\": \"" + json(sql) + "\" }, \"message_data\": "
                + "{ \"message\": \"" + SECRET + "\", \"map\": { \"k\": \"" + SECRET + "\" } } },\n";
    }

    private static String pluginJson(String sql, String user, String database) {
        return "{\"audit_record\":{\"name\":\"Query\",\"timestamp\":\"2026-11-21T02:50:38 UTC\",\"sqltext\":\""
                + json(sql) + "\",\"new\":\"" + SECRET + "\",\"user\":\"" + json(account(user))
                + "\",\"host\":\"localhost\",\"db\":\"" + json(database) + "\"}}\n";
    }

    private static String mcAfee(String sql, String user, String database) {
        String name = json(user);
        return "{\"msg-type\":\"activity\",\"date\":\"1767323046029\",\"user\":\"" + name + "\",\"priv_user\":\"" + name
                + "\",\"host\":\"localhost\",\"cmd\":\"select\",\"new\":\"" + SECRET + "\",\"objects\":[{\"db\":\""
                + json(database) + "\",\"name\":\"t\",\"obj_type\":\"TABLE\"}],\"query\":\"" + json(sql) + "\"}\n";
    }

    private static String mariaDb(String sql) {
        return sql.replace("\\", "\\\\")
                .replace("'", "\\'")
                .replace("\n", "\\n")
                .replace("\t", "\\t");
    }

    private static String xml(String sql) {
        return sql.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("\n", "&#10;");
    }

    private static String json(String sql) {
        StringBuilder quoted = new StringBuilder();
        AvroJsonWriter.quote(sql, quoted);
        return quoted.substring(1, quoted.length() - 1);
    }

    /** Returns a function that writes a statement of the user root with the database d. */
    UnaryOperator<String> record() {
        return statement -> entry.of(statement, "root", "d");
    }

    LogFormat logFormat() {
        return new FormatRegistry().named(format).orElseThrow();
    }

    /** Returns the entry's text before a statement. */
    String before() {
        String written = record().apply(MARK);
        return written.substring(0, written.indexOf(MARK));
    }

    /** Returns the entry's text after a statement. */
    String behind() {
        String written = record().apply(MARK);
        return written.substring(written.indexOf(MARK) + MARK.length());
    }

    /** Returns part of a statement with the escapes of an entry. */
    String escaped(String part) {
        String written = record().apply(MARK + part + MARK);
        int from = written.indexOf(MARK) + MARK.length();
        return written.substring(from, written.indexOf(MARK, from));
    }

    @Override
    public String toString() {
        return format;
    }
}
