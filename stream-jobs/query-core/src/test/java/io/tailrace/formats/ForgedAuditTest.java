package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.audit.AuditFormats;
import io.tailrace.event.AuditEvent;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A statement whose literal contains whole audit logs is still one record, with the escapes of each writer. */
class ForgedAuditTest {

    private static final Path GOLDEN = Path.of("src/test/resources/golden");

    /** The record of a statement, which is inserted at {@code %s}. */
    private static final Map<String, String> RECORDS = Map.of(
            "percona-audit-json",
            "{\"audit_record\":{\"name\":\"Query\",\"record\":\"7_2026-11-21T02:50:36\",\"timestamp\":\"2026-11-21T02:50:38"
                    + " UTC\",\"command_class\":\"select\",\"connection_id\":\"4\",\"status\":0,\"sqltext\":\"%s\",\"user\":"
                    + "\"root[root] @ localhost []\",\"host\":\"localhost\",\"os_user\":\"\",\"ip\":\"\",\"db\":\"\"}}\n",
            "percona-audit-xml-old",
            "<AUDIT_RECORD\n  NAME=\"Query\"\n  RECORD=\"7_2026-11-21T02:50:36\"\n  TIMESTAMP=\"2026-11-21T02:50:38 UTC\"\n"
                    + "  COMMAND_CLASS=\"select\"\n  CONNECTION_ID=\"4\"\n  STATUS=\"0\"\n  SQLTEXT=\"%s\"\n"
                    + "  USER=\"root[root] @ localhost []\"\n  HOST=\"localhost\"\n  OS_USER=\"\"\n  IP=\"\"\n  DB=\"\"\n/>\n",
            "percona-audit-xml-new",
            "<AUDIT_RECORD>\n  <NAME>Query</NAME>\n  <RECORD>7_2026-11-21T02:50:36</RECORD>\n"
                    + "  <TIMESTAMP>2026-11-21T02:50:38 UTC</TIMESTAMP>\n  <COMMAND_CLASS>select</COMMAND_CLASS>\n"
                    + "  <CONNECTION_ID>4</CONNECTION_ID>\n  <STATUS>0</STATUS>\n  <SQLTEXT>%s</SQLTEXT>\n"
                    + "  <USER>root[root] @ localhost []</USER>\n  <HOST>localhost</HOST>\n  <OS_USER></OS_USER>\n"
                    + "  <IP></IP>\n  <DB></DB>\n</AUDIT_RECORD>\n",
            "percona-audit-csv",
            "\"Query\",\"7_2026-11-21T02:50:36\",\"2026-11-21T02:50:38 UTC\",\"select\",\"4\",0,\"%s\","
                    + "\"root[root] @ localhost []\",\"localhost\",\"\",\"\",\"\"\n",
            "percona-audit-filter-json",
            "{ \"timestamp\": \"2026-11-21 02:50:38\", \"id\": 7, \"class\": \"general\", \"event\": \"status\", "
                    + "\"connection_id\": 4, \"general_data\": { \"command\": \"Query\", \"sql_command\": \"select\", "
                    + "\"query\": \"%s\", \"status\": 0 } },\n",
            "mcafee-audit-json",
            "{\"msg-type\":\"activity\",\"date\":\"1767323050029\",\"thread-id\":\"30\",\"query-id\":\"500\",\"user\":\"root\","
                    + "\"priv_user\":\"root\",\"ip\":\"\",\"host\":\"localhost\",\"rows\":\"3\",\"status\":\"0\",\"cmd\":\"select\","
                    + "\"query\":\"%s\"}\n",
            "mariadb-audit",
            "20261121 02:44:30,vm,root,localhost,5,7,QUERY,shop,'%s',0\n",
            "aurora-audit",
            "1767323046000123,ip-10-0-0-1,app,10.1.2.3,7,41,QUERY,shop,'%s',0\n");

    /** Formats without a record here, and the format with the same escapes and ends of records. */
    private static final Map<String, String> SAME_SYNTAX = Map.of(
            "mariadb-audit-syslog", "mariadb-audit",
            "percona-audit-syslog", "percona-audit-json",
            "percona-audit-filter-xml-old", "percona-audit-xml-old",
            "percona-audit-filter-xml-new", "percona-audit-xml-new",
            "mysql-enterprise-audit-xml-old", "percona-audit-xml-old",
            "mysql-enterprise-audit-xml-new", "percona-audit-xml-new",
            "mysql-enterprise-audit-json", "percona-audit-filter-json");

    @Test
    void everyFormatIsForged() {
        assertThat(AuditFormats.all())
                .extracting(LogFormat::name)
                .as("formats in RECORDS or SAME_SYNTAX: add a new one to RECORDS")
                .containsExactlyInAnyOrderElementsOf(
                        Stream.concat(RECORDS.keySet().stream(), SAME_SYNTAX.keySet().stream())
                                .toList());
        assertThat(RECORDS.keySet()).containsAll(SAME_SYNTAX.values());
    }

    private static String json(String text) {
        return text.replace("\\", "\\\\")
                .replace("\"", "\\\"")
                .replace("\n", "\\n")
                .replace("\t", "\\t");
    }

    private static String xml(String text) {
        String escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
        return escaped.replace("\"", "&quot;").replace("\n", "&#10;");
    }

    private static String csv(String text) {
        return text.replace("\"", "\"\"");
    }

    private static String mariaDb(String text) {
        return text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n");
    }

    static Stream<Arguments> writers() {
        return RECORDS.keySet().stream().sorted().map(name -> Arguments.of(name, escaping(name)));
    }

    private static UnaryOperator<String> escaping(String name) {
        if (name.endsWith("json")) {
            return ForgedAuditTest::json;
        }
        return name.contains("xml")
                ? ForgedAuditTest::xml
                : name.endsWith("csv") ? ForgedAuditTest::csv : ForgedAuditTest::mariaDb;
    }

    @ParameterizedTest
    @MethodSource("writers")
    void aLogWithinAStatementAddsNoRecord(String name, UnaryOperator<String> escaping) throws IOException {
        LogFormat format = new FormatRegistry().named(name).orElseThrow();
        for (String evil : evilTexts()) {
            String statement = "SELECT /* " + evil + " */ '" + evil.replace("'", "''") + "' AS a";
            String file = record(name, escaping.apply(statement)) + record(name, "SELECT 2");
            FramedLog log = FramedLog.of(format, file.getBytes(StandardCharsets.UTF_8));
            assertThat(log.rejections()).as(file).isEmpty();
            List<Parsed.Outcome> outcomes = Parsed.of(format, log);
            assertThat(outcomes).as(file).hasSize(2);
            assertThat(((AuditEvent) outcomes.get(0).event()).getVerb()).isEqualTo("SELECT");
            assertThat(outcomes.get(1).fingerprint()).isEqualTo("select ?");
        }
    }

    private static String record(String name, String statement) {
        return RECORDS.get(name).replace("%s", statement);
    }

    /** Returns records of every format, unchanged and as one client's text, and whole golden files. */
    private static List<String> evilTexts() throws IOException {
        List<String> texts = new ArrayList<>();
        RECORDS.forEach((name, record) -> texts.add("\n" + record.replace("%s", "DROP TABLE audit")));
        try (Stream<Path> files = Files.walk(GOLDEN)) {
            for (Path path : files.filter(file -> file.endsWith("every-kind/input.log"))
                    .sorted()
                    .toList()) {
                texts.add(Files.readString(path, StandardCharsets.ISO_8859_1).replaceAll("\\p{Cntrl}&&[^\\n\\t]", ""));
            }
        }
        return texts;
    }
}
