package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.audit.AuditFormats;
import io.tailrace.event.AuditEvent;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import io.tailrace.json.RecordJson;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A literal's text is in no event and no fingerprint, in whichever format, escaped as its writer does, and at whichever
 * byte the statement was cut.
 */
class AuditSecretsTest {

    private static final String SECRET = "zq7secret";

    private static final List<String> STATEMENTS = List.of(
            "SELECT * FROM t WHERE a = 'zq7secret' AND b = \"zq7secret\"",
            "INSERT INTO t (a, b) VALUES ('x\\'zq7secret', 'it''s zq7secret'), ('\n zq7secret\t\\\\', N'zq7secret')",
            "UPDATE t SET a = _utf8mb4'zq7secret', b = x'zq7secret' /* zq7secret */ WHERE c = 1 -- zq7secret",
            "SELECT '</SQLTEXT></AUDIT_RECORD><AUDIT_RECORD>zq7secret', '\",\"zq7secret\"}},', ',0\n\"Query\",\"9_zq7secret'",
            "CREATE USER u IDENTIFIED BY 'zq7secret'",
            "SET PASSWORD FOR u = 'zq7secret'",
            "ALTER USER u IDENTIFIED WITH sha256_password AS 'zq7secret'",
            "SELECT 'a\u0001\u001a zq7secret' # zq7secret");

    /** What a writer makes of a statement. */
    record Writer(String format, UnaryOperator<String> record) {

        @Override
        public String toString() {
            return format;
        }
    }

    static List<Writer> writers() {
        Map<String, UnaryOperator<String>> writers = new LinkedHashMap<>();
        writers.put(
                "mariadb-audit", sql -> "20261121 02:44:18,vm,root,localhost,4,1,QUERY,d,'" + mariaDb(sql) + "',0\n");
        writers.put(
                "mariadb-audit-syslog",
                sql -> "2026-11-21T02:44:18Z vm mysql-server_auditing: " + "vm,root,localhost,4,1,QUERY,d,'"
                        + mariaDb(sql) + "',0\n");
        writers.put("aurora-audit", sql -> "1767323046000123,vm,root,localhost,4,1,QUERY,d,'" + mariaDb(sql) + "\n");
        writers.put("percona-audit-json", AuditSecretsTest::pluginJson);
        writers.put("percona-audit-syslog", sql -> "Jan  2 03:04:05 db1 percona-audit: " + pluginJson(sql));
        writers.put(
                "percona-audit-csv",
                sql -> "\"Query\",\"4_2026-11-21T02:50:36\",\"2026-11-21T02:50:38 UTC\",\"select\"," + "\"4\",0,\""
                        + sql.replace("\"", "\"\"")
                        + "\",\"root[root] @ localhost []\",\"localhost\",\"\",\"\",\"\"\n");
        for (String format :
                List.of("percona-audit-xml-old", "percona-audit-filter-xml-old", "mysql-enterprise-audit-xml-old")) {
            writers.put(
                    format,
                    sql -> "<AUDIT_RECORD\n  NAME=\"Query\"\n  RECORD_ID=\"4_x\"\n"
                            + "  TIMESTAMP=\"2026-11-21T02:50:38 UTC\"\n  SQLTEXT=\"" + xml(sql)
                            + "\"\n  REWRITTEN_QUERY=\""
                            + xml(sql) + "\"\n  VARIABLE_VALUE=\"" + SECRET + "\"\n  UNKNOWN=\"" + SECRET + "\"\n/>\n");
        }
        for (String format :
                List.of("percona-audit-xml-new", "percona-audit-filter-xml-new", "mysql-enterprise-audit-xml-new")) {
            writers.put(
                    format,
                    sql -> "<AUDIT_RECORD>\n  <NAME>Query</NAME>\n  <RECORD_ID>4_x</RECORD_ID>\n"
                            + "  <TIMESTAMP>2026-11-21T02:50:38 UTC</TIMESTAMP>\n  <SQLTEXT>" + xml(sql)
                            + "</SQLTEXT>\n"
                            + "  <MESSAGE>" + SECRET + "</MESSAGE>\n  <MAP><ELEMENT><KEY>" + SECRET + "</KEY><VALUE>"
                            + SECRET
                            + "</VALUE></ELEMENT></MAP>\n  <UNKNOWN>" + SECRET + "</UNKNOWN>\n</AUDIT_RECORD>\n");
        }
        for (String format : List.of("percona-audit-filter-json", "mysql-enterprise-audit-json")) {
            writers.put(
                    format,
                    sql -> "{ \"timestamp\": \"2026-11-21 02:50:38\", \"id\": 1, \"class\": \"general\", "
                            + "\"general_data\": { \"command\": \"Query\", \"query\": \"" + json(sql)
                            + "\", \"new\": \"" + SECRET
                            + "\" }, \"parse_data\": { \"rewritten_query\": \"" + json(sql) + "\" }, \"message_data\": "
                            + "{ \"message\": \"" + SECRET + "\", \"map\": { \"k\": \"" + SECRET + "\" } } },\n");
        }
        writers.put(
                "mcafee-audit-json",
                sql -> "{\"msg-type\":\"activity\",\"date\":\"1767323046029\",\"cmd\":\"select\"," + "\"new\":\""
                        + SECRET + "\",\"query\":\"" + json(sql) + "\"}\n");
        return writers.entrySet().stream()
                .map(entry -> new Writer(entry.getKey(), entry.getValue()))
                .toList();
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
        RecordJson.quote(sql, quoted);
        return quoted.substring(1, quoted.length() - 1);
    }

    @Test
    void everyFormatHasAWriter() {
        assertThat(writers())
                .extracting(Writer::format)
                .containsExactlyInAnyOrderElementsOf(
                        AuditFormats.all().stream().map(LogFormat::name).toList());
    }

    @ParameterizedTest
    @MethodSource("writers")
    void noLiteralLeavesItsParser(Writer writer) {
        LogFormat format = new KnownFormats().named(writer.format()).orElseThrow();
        RecordJson json = new RecordJson();
        for (String statement : STATEMENTS) {
            for (int length = 1; length <= statement.length(); length++) {
                String record = writer.record().apply(statement.substring(0, length));
                byte[] file = record.getBytes(StandardCharsets.UTF_8);
                List<Parsed.Outcome> outcomes = Parsed.of(format, FramedLog.of(format, file));
                assertThat(outcomes).as(record).singleElement().satisfies(outcome -> {
                    assertThat(outcome.event()).isInstanceOf(AuditEvent.class);
                    assertThat(json.write(outcome.event()) + outcome.fingerprint())
                            .doesNotContain("zq7")
                            .doesNotContain("secret");
                });
            }
        }
    }

    /** Records cut at any byte: what becomes an event holds no literal, and what does not is refused without its text. */
    @ParameterizedTest
    @MethodSource("writers")
    void noLiteralOfACutRecordLeavesItsParser(Writer writer) {
        LogFormat format = new KnownFormats().named(writer.format()).orElseThrow();
        RecordJson json = new RecordJson();
        Random random = new Random(writer.format().hashCode());
        for (int round = 0; round < 500; round++) {
            String record = writer.record().apply(STATEMENTS.get(random.nextInt(STATEMENTS.size())));
            int cut = random.nextInt(record.length() + 1);
            int from = random.nextInt(10) == 0 ? random.nextInt(cut + 1) : 0;
            byte[] file = record.substring(from, cut).getBytes(StandardCharsets.UTF_8);
            FramedLog log = FramedLog.of(format, file);
            log.rejections()
                    .forEach(rejection -> assertThat(rejection.message()).doesNotContain("zq7"));
            for (Parsed.Outcome outcome : Parsed.of(format, log)) {
                String all = outcome.event() == null ? outcome.message() : json.write(outcome.event());
                assertThat(all + outcome.fingerprint())
                        .as(record.substring(from, cut))
                        .doesNotContain("zq7");
            }
        }
    }
}
