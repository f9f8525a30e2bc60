package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.EventId;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import io.tailrace.json.AvroJsonWriter;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/** Compares audit logs of the corpora, member by member, with the results of third-party XML and JSON parsers. */
@Tag("slow")
class AuditCorporaTest {

    private static final String CONTROLS = "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f]";

    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(JsonReadFeature.ALLOW_UNESCAPED_CONTROL_CHARS)
            .build();

    @ParameterizedTest
    @CsvSource({
        "ours/audit/real/pxc-5.7.20-auditNEW.log, percona-audit-xml-new, 2144",
        "ours/audit/real/pxc-5.7.20-auditOLD-wsrep.log, percona-audit-xml-old, 2140",
        "ours/audit/synthetic/mysql-enterprise-new.xml, mysql-enterprise-audit-xml-new, 4",
        "ours/audit/synthetic/mysql-enterprise-new.no-footer.xml, mysql-enterprise-audit-xml-new, 4",
        "third-party/audit/percona-docs/audit-log-filter-new.0.xml, percona-audit-filter-xml-new, 6",
        "third-party/audit/percona-docs/audit-log-filter-old.0.xml, percona-audit-filter-xml-old, 7",
    })
    void everyRecordOfAnXmlLogIsOneEvent(String name, String formatName, int count) throws Exception {
        byte[] file = Corpora.read(name);
        List<Map<String, String>> records = xmlRecords(file);
        List<Parsed.Outcome> outcomes = events(file, formatName);
        assertThat(outcomes).hasSize(count).hasSameSizeAs(records);
        for (int i = 0; i < count; i++) {
            compare(records.get(i), outcomes.get(i));
        }
    }

    /** Frames and parses a file; fails if anything is rejected. */
    private static List<Parsed.Outcome> events(byte[] file, String formatName) {
        LogFormat format = new FormatRegistry().detect("audit", "auto", file).orElseThrow();
        assertThat(format.name()).isEqualTo(formatName);
        FramedLog log = FramedLog.of(format, file);
        assertThat(log.rejections()).isEmpty();
        assertThat(log.reported()).isEqualTo(file.length);
        List<Parsed.Outcome> outcomes = Parsed.of(format, log);
        assertThat(outcomes).allMatch(outcome -> outcome.event() instanceof AuditEvent);
        return outcomes;
    }

    /** Parses the records with an XML parser; control characters and a missing end are fixed first. */
    private static List<Map<String, String>> xmlRecords(byte[] file) throws Exception {
        String text = new String(file, StandardCharsets.UTF_8).replaceAll(CONTROLS, "\ufffd");
        String whole = text.contains("</AUDIT>") ? text : text + "</AUDIT>";
        NodeList nodes = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(whole.getBytes(StandardCharsets.UTF_8)))
                .getElementsByTagName("AUDIT_RECORD");
        List<Map<String, String>> records = new ArrayList<>();
        for (int i = 0; i < nodes.getLength(); i++) {
            records.add(members((Element) nodes.item(i)));
        }
        return records;
    }

    /** Returns the database that the record itself names, not one of an earlier record of the connection. */
    private static String ownDatabase(AuditEvent event) {
        return event.getFlags().contains("database_inherited") ? "" : event.getDatabase();
    }

    private static Map<String, String> members(Element record) {
        Map<String, String> members = new LinkedHashMap<>();
        for (int i = 0; i < record.getAttributes().getLength(); i++) {
            Node attribute = record.getAttributes().item(i);
            members.put(attribute.getNodeName(), attribute.getNodeValue());
        }
        for (Node child = record.getFirstChild(); child != null; child = child.getNextSibling()) {
            members.put(child.getNodeName(), child.getTextContent());
        }
        return members;
    }

    private static void compare(Map<String, String> record, Parsed.Outcome outcome) {
        AuditEvent event = (AuditEvent) outcome.event();
        assertThat(event.getCommand()).isEqualTo(record.get("NAME"));
        assertThat(event.getRecordId()).isEqualTo(record.getOrDefault("RECORD", record.get("RECORD_ID")));
        assertThat(event.getEventTime().toString())
                .startsWith(record.get("TIMESTAMP").substring(0, 19));
        assertThat(event.getCommandClass()).isEqualTo(record.getOrDefault("COMMAND_CLASS", ""));
        assertThat(Long.toString(event.getConnectionId())).isEqualTo(record.getOrDefault("CONNECTION_ID", "0"));
        assertThat(Integer.toString(event.getStatus())).isEqualTo(record.getOrDefault("STATUS", "0"));
        assertThat(event.getHost()).isEqualTo(record.getOrDefault("HOST", ""));
        assertThat(event.getIp()).isEqualTo(record.getOrDefault("IP", ""));
        assertThat(ownDatabase(event)).isEqualTo(record.getOrDefault("DB", ""));
        assertThat(record.getOrDefault("USER", "")).contains(event.getUser());
        if (!outcome.statement().isEmpty()) {
            String readable = outcome.statement().replaceAll(CONTROLS, "\ufffd");
            String logged = record.get("SQLTEXT");
            assertThat(readable).isEqualTo(logged.substring(0, Math.min(logged.length(), readable.length())));
        }
        assertThat(outcome.fingerprint().isEmpty())
                .isEqualTo(record.getOrDefault("SQLTEXT", "").isEmpty());
    }

    @ParameterizedTest
    @CsvSource({
        "ours/audit/synthetic/percona-8.4-audit_log_filter.json, percona-audit-filter-json, 31",
        "ours/audit/synthetic/percona-8.4-audit_log_filter.open-array-no-footer.json, percona-audit-filter-json, 31",
        "ours/audit/synthetic/percona-8.4-audit_log_filter.unix-timestamp.json, percona-audit-filter-json, 31",
        "ours/audit/synthetic/mysql-enterprise-query_statistics.json, mysql-enterprise-audit-json, 2",
        "third-party/audit/percona-docs/audit-log-filter-json.0.json, percona-audit-filter-json, 7",
    })
    void everyElementOfAJsonLogIsOneEvent(String name, String formatName, int count) throws Exception {
        byte[] file = Corpora.read(name);
        String text = new String(file, StandardCharsets.UTF_8).strip();
        JsonNode records = JSON.readTree(text.endsWith("]") ? text : text + "]");
        List<Parsed.Outcome> outcomes = events(file, formatName);
        assertThat(outcomes).hasSize(count).hasSize(records.size());
        for (int i = 0; i < count; i++) {
            compare(records.get(i), outcomes.get(i));
        }
    }

    private static void compare(JsonNode record, Parsed.Outcome outcome) {
        AuditEvent event = (AuditEvent) outcome.event();
        JsonNode data = record.path(record.path("class").asText() + "_data");
        assertThat(event.getRecordId()).isEqualTo(record.get("id").asText());
        assertThat(event.getEventName()).isEqualTo(record.path("event").asText());
        assertThat(event.getConnectionId())
                .isEqualTo(record.path("connection_id").asLong());
        assertThat(event.getStatus()).isEqualTo(data.path("status").asInt());
        assertThat(event.getCommandClass()).isEqualTo(data.path("sql_command").asText());
        assertThat(event.getHost())
                .isEqualTo(record.path("account").path("host").asText());
        assertThat(ownDatabase(event)).isEqualTo(data.path("db").asText());
        assertThat(event.getObject())
                .isIn(data.path("table").asText(), data.path("name").asText());
        assertThat(outcome.statement()).isEqualTo(data.path("query").asText());
        if (record.has("time")) {
            assertThat(event.getEventTime().toEpochMilli())
                    .isEqualTo(record.get("time").asLong() / 1_000);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "ours/audit/synthetic/aurora-mysql-audit.log, aurora-audit, 6",
        "ours/audit/synthetic/mariadb-server_audit-syslog.txt, mariadb-audit-syslog, 2",
        "ours/audit/synthetic/mcafee-mysql-audit.json, mcafee-audit-json, 6",
        "ours/audit/synthetic/percona-audit_log-syslog.txt, percona-audit-syslog, 1",
        "ours/audit/synthetic/rds-mysql80-mariadb-audit-plugin.log, mariadb-audit, 3",
        "third-party/audit/percona-docs/audit-log-plugin.11.txt, percona-audit-xml-old, 1",
        "third-party/audit/percona-docs/audit-log-plugin.13.txt, percona-audit-json, 1",
        "third-party/audit/percona-docs/audit-log-plugin.14.txt, percona-audit-csv, 1",
        "third-party/audit/percona-docs/audit-log-plugin.15.txt, percona-audit-xml-old, 1",
        "third-party/audit/percona-docs/audit-log-plugin.16.txt, percona-audit-xml-old, 1",
        "third-party/audit/percona-docs/audit-log-plugin.17.txt, percona-audit-xml-old, 1",
        "third-party/audit/percona-docs/audit-log-plugin.36.txt, percona-audit-xml-old, 1",
        "third-party/audit/percona-docs/audit-log-plugin.42.txt, percona-audit-xml-new, 1",
    })
    void everySampleIsRead(String name, String formatName, int count) {
        assertThat(events(Corpora.read(name), formatName)).hasSize(count);
    }

    @Test
    void aSampleWithoutItsLastTagIsIncomplete() {
        byte[] file = Corpora.read("third-party/audit/percona-docs/audit-log-plugin.12.txt");
        LogFormat format = new FormatRegistry().detect("audit", "auto", file).orElseThrow();
        FramedLog log = FramedLog.of(format, file);
        assertThat(log.frames()).singleElement().satisfies(frame -> assertThat(frame.code())
                .isEqualTo(DeadLetterCode.INCOMPLETE));
    }

    /** The plugin's JSON, converted to its CSV, must have the same meaning. */
    @Test
    void csvMeansWhatJsonMeans() throws Exception {
        byte[] json = Corpora.read("ours/audit/real/pxc-5.7.20-auditJSON.log");
        StringBuilder csv = new StringBuilder();
        for (String line : new String(json, StandardCharsets.UTF_8).split("\n")) {
            csv.append(csvRecord(JSON.readTree(line).get("audit_record"))).append('\n');
        }
        List<Parsed.Outcome> expected = events(json, "percona-audit-json");
        List<Parsed.Outcome> found = events(csv.toString().getBytes(StandardCharsets.UTF_8), "percona-audit-csv");
        assertThat(csv.chars().filter(c -> c == '\n').count()).isEqualTo(7167);
        assertThat(found).hasSize(2144).hasSameSizeAs(expected);
        for (int i = 0; i < found.size(); i++) {
            assertThat(meaning(found.get(i))).isEqualTo(meaning(expected.get(i)));
        }
    }

    /**
     * Writes members in their order, strings quoted, quotation marks doubled, according to the plugin's format
     * strings.
     */
    private static String csvRecord(JsonNode record) {
        List<String> columns = new ArrayList<>();
        for (JsonNode member : record) {
            boolean bare = member.isNumber();
            columns.add(bare ? member.asText() : '"' + member.asText().replace("\"", "\"\"") + '"');
        }
        return String.join(",", columns);
    }

    /** Returns an event without its position, and its texts. */
    private static String meaning(Parsed.Outcome outcome) {
        AuditEvent event = AuditEvent.newBuilder((AuditEvent) outcome.event()).build();
        event.setEventId(new EventId());
        event.setEntryOffset(0);
        event.setEntryBytes(0);
        event.setFormat("");
        event.setFlags(event.getFlags().stream()
                .filter(flag -> !flag.equals("repaired"))
                .toList());
        event.setAttributes(Map.of());
        return event + outcome.fingerprint() + outcome.statement();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ours/audit/real", "ours/audit/synthetic"})
    void noSecretOfALogLeavesItsParser(String directory) {
        for (Path path : Corpora.files(directory, ".csv", ".log", ".json", ".xml", ".txt")) {
            byte[] file = Corpora.read(path);
            LogFormat format =
                    new FormatRegistry().detect("audit", "auto", file).orElseThrow();
            for (Parsed.Outcome outcome : Parsed.of(format, FramedLog.of(format, file))) {
                String all = new AvroJsonWriter().write(outcome.event()) + outcome.fingerprint() + outcome.statement();
                assertThat(all)
                        .as(path.toString())
                        .doesNotContainIgnoringCase("s3cret")
                        .doesNotContain("hasło");
            }
        }
    }
}
