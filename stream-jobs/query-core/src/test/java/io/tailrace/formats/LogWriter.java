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
 * @param record creates one entry from a statement
 */
record LogWriter(String format, UnaryOperator<String> record) {

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
                sql -> "# Time: 2026-11-21T02:49:03.496201Z\n# User@Host: root[root] @ localhost []  Id:     8\n"
                        + "# Query_time: 0.000099  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n"
                        + "SET timestamp=1795229343;\n" + sql + ";\n");
        LogWriter general =
                new LogWriter("mysql-general", sql -> "2026-11-21T02:49:03.100000Z\t    8 Query\t" + sql + "\n");
        LogWriter error = new LogWriter(
                "mysql-error",
                sql ->
                        "2026-11-21T02:51:07.023167Z 4 [ERROR] Slave SQL for channel '': Error 'Duplicate entry 'zq7secret'"
                                + " for key 'PRIMARY'' on query. Default database: 'd'. Query: '" + sql
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
        Map<String, UnaryOperator<String>> writers = new LinkedHashMap<>();
        writers.put(
                "mariadb-audit", sql -> "20261121 02:44:18,vm,root,localhost,4,1,QUERY,d,'" + mariaDb(sql) + "',0\n");
        writers.put(
                "mariadb-audit-syslog",
                sql -> "2026-11-21T02:44:18Z vm mysql-server_auditing: " + "vm,root,localhost,4,1,QUERY,d,'"
                        + mariaDb(sql) + "',0\n");
        writers.put("aurora-audit", sql -> "1767323046000123,vm,root,localhost,4,1,QUERY,d,'" + mariaDb(sql) + "\n");
        writers.put("percona-audit-json", LogWriter::pluginJson);
        writers.put("percona-audit-syslog", sql -> "Jan  2 03:04:05 db1 percona-audit: " + pluginJson(sql));
        writers.put(
                "percona-audit-csv",
                sql -> "\"Query\",\"4_2026-11-21T02:50:36\",\"2026-11-21T02:50:38 UTC\",\"select\"," + "\"4\",0,\""
                        + sql.replace("\"", "\"\"")
                        + "\",\"root[root] @ localhost []\",\"localhost\",\"\",\"\",\"\"\n");
        for (String format :
                List.of("percona-audit-xml-old", "percona-audit-filter-xml-old", "mysql-enterprise-audit-xml-old")) {
            writers.put(format, LogWriter::xmlAttributes);
        }
        for (String format :
                List.of("percona-audit-xml-new", "percona-audit-filter-xml-new", "mysql-enterprise-audit-xml-new")) {
            writers.put(format, LogWriter::xmlElements);
        }
        for (String format : List.of("percona-audit-filter-json", "mysql-enterprise-audit-json")) {
            writers.put(format, LogWriter::filterJson);
        }
        writers.put(
                "mcafee-audit-json",
                sql -> "{\"msg-type\":\"activity\",\"date\":\"1767323046029\",\"cmd\":\"select\"," + "\"new\":\""
                        + SECRET + "\",\"query\":\"" + json(sql) + "\"}\n");
        return writers.entrySet().stream()
                .map(entry -> new LogWriter(entry.getKey(), entry.getValue()))
                .toList();
    }

    private static String xmlAttributes(String sql) {
        return "<AUDIT_RECORD\n  NAME=\"Query\"\n  RECORD_ID=\"4_x\"\n"
                + "  TIMESTAMP=\"2026-11-21T02:50:38 UTC\"\n  SQLTEXT=\"" + xml(sql)
                + "\"\n  REWRITTEN_QUERY=\""
                + xml(sql) + "\"\n  VARIABLE_VALUE=\"" + SECRET + "\"\n  UNKNOWN=\"" + SECRET + "\"\n/>\n";
    }

    private static String xmlElements(String sql) {
        return "<AUDIT_RECORD>\n  <NAME>Query</NAME>\n  <RECORD_ID>4_x</RECORD_ID>\n"
                + "  <TIMESTAMP>2026-11-21T02:50:38 UTC</TIMESTAMP>\n  <SQLTEXT>" + xml(sql)
                + "</SQLTEXT>\n"
                + "  <MESSAGE>" + SECRET + "</MESSAGE>\n  <MAP><ELEMENT><KEY>" + SECRET + "</KEY><VALUE>"
                + SECRET
                + "</VALUE></ELEMENT></MAP>\n  <UNKNOWN>" + SECRET + "</UNKNOWN>\n</AUDIT_RECORD>\n";
    }

    private static String filterJson(String sql) {
        return "{ \"timestamp\": \"2026-11-21 02:50:38\", \"id\": 1, \"class\": \"general\", "
                + "\"general_data\": { \"command\": \"Query\", \"query\": \"" + json(sql)
                + "\", \"new\": \"" + SECRET
                + "\" }, \"parse_data\": { \"rewritten_query\": \"" + json(sql) + "\" }, \"message_data\": "
                + "{ \"message\": \"" + SECRET + "\", \"map\": { \"k\": \"" + SECRET + "\" } } },\n";
    }

    private static String pluginJson(String sql) {
        return "{\"audit_record\":{\"name\":\"Query\",\"timestamp\":\"2026-11-21T02:50:38 UTC\",\"sqltext\":\""
                + json(sql) + "\",\"new\":\"" + SECRET + "\"}}\n";
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

    LogFormat logFormat() {
        return new FormatRegistry().named(format).orElseThrow();
    }

    /** Returns the entry's text before a statement. */
    String before() {
        String written = record.apply(MARK);
        return written.substring(0, written.indexOf(MARK));
    }

    /** Returns the entry's text after a statement. */
    String behind() {
        String written = record.apply(MARK);
        return written.substring(written.indexOf(MARK) + MARK.length());
    }

    /** Returns part of a statement with the escapes of an entry. */
    String escaped(String part) {
        String written = record.apply(MARK + part + MARK);
        int from = written.indexOf(MARK) + MARK.length();
        return written.substring(from, written.indexOf(MARK, from));
    }

    @Override
    public String toString() {
        return format;
    }
}
