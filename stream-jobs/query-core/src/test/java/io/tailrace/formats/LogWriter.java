package io.tailrace.formats;

import io.tailrace.framing.LogFormat;
import io.tailrace.json.AvroJsonWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Writes a statement and a login like a server, with the escapes of its format.
 *
 * @param entry creates an entry of a statement; it writes each name that the server writes with each statement
 * @param login creates an entry of a login; null for the formats that {@link NamesInLoginsTest} lists
 */
record LogWriter(String format, Entry entry, Login login) {

    /**
     * What a client chooses: its user and default database, in a login without an account too, and often its host, if the
     * server resolves addresses to names.
     */
    record Names(String user, String host, String database) {

        static final Names USUAL = new Names("root", "localhost", "d");
    }

    /** Creates an entry; escapes each value as the server does, which may write names as they are. */
    @FunctionalInterface
    interface Entry {

        String of(String statement, Names names);
    }

    /** Creates an entry; escapes each value as the server does. Its connection is another than that of {@link Entry}. */
    @FunctionalInterface
    interface Login {

        /** Returns an entry; empty if the format does not log such a login. */
        String of(Names names, boolean refused);
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
        LogWriter slow = of(
                "mysql-slow",
                (sql, names) -> "# Time: 2026-11-21T02:49:03.496201Z\n# User@Host: " + account(names)
                        + "  Id:     8\n"
                        + "# Query_time: 0.000099  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n"
                        + "use " + names.database() + ";\nSET timestamp=1795229343;\n" + sql + ";\n");
        LogWriter general =
                of("mysql-general", (sql, names) -> "2026-11-21T02:49:03.100000Z\t    8 Query\t" + sql + "\n");
        LogWriter error = of(
                "mysql-error",
                (sql, names) ->
                        "2026-11-21T02:51:07.023167Z 4 [ERROR] Slave SQL for channel '': Error 'Duplicate entry 'zq7secret'"
                                + " for key 'PRIMARY'' on query. Default database: '" + names.database() + "'. Query: '"
                                + sql + "', Error_code: 1062\n");
        return Stream.concat(Stream.of(slow, general, error), ofAudit().stream())
                .toList();
    }

    private static LogWriter of(String format, Entry entry) {
        return new LogWriter(format, entry, LoginWriters.OF_FORMATS.get(format));
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
                "percona-audit-syslog", (sql, names) -> "Jan  2 03:04:05 db1 percona-audit: " + pluginJson(sql, names));
        writers.put("percona-audit-csv", LogWriter::csv);
        writers.put("percona-audit-xml-old", (sql, names) -> xmlAttributes(sql, names, attribute(names.database())));
        writers.put("percona-audit-xml-new", (sql, names) -> xmlElements(sql, names, element(names.database())));
        for (String format : List.of("percona-audit-filter-xml-old", "mysql-enterprise-audit-xml-old")) {
            writers.put(format, (sql, names) -> xmlAttributes(sql, names, ""));
        }
        for (String format : List.of("percona-audit-filter-xml-new", "mysql-enterprise-audit-xml-new")) {
            writers.put(format, (sql, names) -> xmlElements(sql, names, ""));
        }
        for (String format : List.of("percona-audit-filter-json", "mysql-enterprise-audit-json")) {
            writers.put(format, LogWriter::filterJson);
        }
        writers.put("mcafee-audit-json", LogWriter::mcAfee);
        return writers.entrySet().stream()
                .map(writer -> of(writer.getKey(), writer.getValue()))
                .toList();
    }

    /** Writes {@code priv_user[user] @ host [ip]}, with names as they are. */
    private static String account(Names names) {
        return names.user() + '[' + names.user() + "] @ " + names.host() + " []";
    }

    /** Adds a writer of MariaDB's plugin, which escapes the statement only: names are written as they are. */
    private static void mariaDb(Map<String, Entry> writers, String format, String time, String end) {
        writers.put(
                format,
                (sql, names) -> time + "vm," + names.user() + ',' + names.host() + ",4,1,QUERY," + names.database()
                        + ",'" + mariaDb(sql) + end);
    }

    private static String csv(String sql, Names names) {
        return "\"Query\",\"4_2026-11-21T02:50:36\",\"2026-11-21T02:50:38 UTC\",\"select\",\"4\",0,\"" + doubled(sql)
                + "\",\"" + doubled(account(names)) + "\",\"" + doubled(names.host()) + "\",\"\",\"\",\""
                + doubled(names.database()) + "\"\n";
    }

    static String doubled(String text) {
        return text.replace("\"", "\"\"");
    }

    private static String xmlAttributes(String sql, Names names, String database) {
        return "<AUDIT_RECORD\n  NAME=\"Query\"\n  RECORD_ID=\"4_x\"\n"
                + "  TIMESTAMP=\"2026-11-21T02:50:38 UTC\"\n  SQLTEXT=\"" + xml(sql)
                + "\"\n  REWRITTEN_QUERY=\""
                + xml(sql) + "\"\n  VARIABLE_VALUE=\"" + SECRET + "\"\n  UNKNOWN=\"" + SECRET + "\"\n  USER=\""
                + xml(account(names)) + "\"\n  HOST=\"" + xml(names.host()) + "\"\n" + database + "/>\n";
    }

    private static String attribute(String database) {
        return "  DB=\"" + xml(database) + "\"\n";
    }

    private static String xmlElements(String sql, Names names, String database) {
        return "<AUDIT_RECORD>\n  <NAME>Query</NAME>\n  <RECORD_ID>4_x</RECORD_ID>\n"
                + "  <TIMESTAMP>2026-11-21T02:50:38 UTC</TIMESTAMP>\n  <SQLTEXT>" + xml(sql)
                + "</SQLTEXT>\n"
                + "  <MESSAGE>" + SECRET + "</MESSAGE>\n  <MAP><ELEMENT><KEY>" + SECRET + "</KEY><VALUE>"
                + SECRET
                + "</VALUE></ELEMENT></MAP>\n  <UNKNOWN>" + SECRET + "</UNKNOWN>\n  <USER>" + xml(account(names))
                + "</USER>\n  <HOST>" + xml(names.host()) + "</HOST>\n" + database + "</AUDIT_RECORD>\n";
    }

    private static String element(String database) {
        return "  <DB>" + xml(database) + "</DB>\n";
    }

    private static String filterJson(String sql, Names names) {
        String name = json(names.user());
        return "{ \"timestamp\": \"2026-11-21 02:50:38\", \"id\": 1, \"class\": \"general\", "
                + "\"account\": { \"user\": \"" + name + "\", \"host\": \"" + json(names.host())
                + "\" }, \"login\": { \"user\": \""
                + name + "\", \"os\": \"\", \"ip\": \"\", \"proxy\": \"\" }, "
                + "\"general_data\": { \"command\": \"Query\", \"query\": \"" + json(sql)
                + "\", \"new\": \"" + SECRET
                + "\" }, \"parse_data\": { \"rewritten_query\": \"" + json(sql) + "\" }, \"message_data\": "
                + "{ \"message\": \"" + SECRET + "\", \"map\": { \"k\": \"" + SECRET + "\" } } },\n";
    }

    private static String pluginJson(String sql, Names names) {
        return "{\"audit_record\":{\"name\":\"Query\",\"timestamp\":\"2026-11-21T02:50:38 UTC\",\"sqltext\":\""
                + json(sql) + "\",\"new\":\"" + SECRET + "\",\"user\":\"" + json(account(names))
                + "\",\"host\":\"" + json(names.host()) + "\",\"db\":\"" + json(names.database()) + "\"}}\n";
    }

    private static String mcAfee(String sql, Names names) {
        String name = json(names.user());
        return "{\"msg-type\":\"activity\",\"date\":\"1767323046029\",\"user\":\"" + name + "\",\"priv_user\":\"" + name
                + "\",\"host\":\"" + json(names.host()) + "\",\"cmd\":\"select\",\"new\":\"" + SECRET
                + "\",\"objects\":[{\"db\":\""
                + json(names.database()) + "\",\"name\":\"t\",\"obj_type\":\"TABLE\"}],\"query\":\"" + json(sql)
                + "\"}\n";
    }

    private static String mariaDb(String sql) {
        return sql.replace("\\", "\\\\")
                .replace("'", "\\'")
                .replace("\n", "\\n")
                .replace("\t", "\\t")
                .replace("\r", "\\r");
    }

    static String xml(String sql) {
        return sql.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("\n", "&#10;")
                .replace("\r", "&#13;");
    }

    static String json(String sql) {
        StringBuilder quoted = new StringBuilder();
        AvroJsonWriter.quote(sql, quoted);
        return quoted.substring(1, quoted.length() - 1);
    }

    /** Returns a function that writes a statement with {@link Names#USUAL}. */
    UnaryOperator<String> record() {
        return statement -> entry.of(statement, Names.USUAL);
    }

    LogFormat logFormat() {
        return new FormatRegistry().named(format).orElseThrow();
    }

    /** Returns the entry's text before a statement. */
    String before() {
        String written = record().apply(MARK);
        return written.substring(0, written.indexOf(MARK));
    }

    /** Returns the text of a login before the first of its names; empty for a format without logins. */
    String beforeNames() {
        String written = login == null ? "" : login.of(new Names(MARK, MARK, MARK), true);
        return written.substring(0, Math.max(0, written.indexOf(MARK)));
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
