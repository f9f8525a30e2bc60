package io.tailrace.detection.taxonomy;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.audit.record.AuditEventBuilder;
import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldPlace;
import io.tailrace.detection.event.LogSource;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.EventId;
import io.tailrace.event.QueryEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TaxonomyTest {

    private static final Instant TIME = Instant.parse("2026-11-21T02:44:30.000001Z");
    private static final EventId ID = new EventId(new byte[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});

    @Test
    void everyFieldIsDocumented() throws IOException {
        String document = Files.readString(Path.of("../../docs/TAXONOMY.md"));

        assertThat(DatabaseField.allNames().map(name -> "`" + name + "`")).allMatch(document::contains);
    }

    /** A field without a place is found, but in a map of its event, which takes longer. */
    @Test
    void everyFieldHasItsOwnPlaceInEvents() {
        List<Integer> places = Stream.of(DatabaseField.values())
                .map(field -> FieldPlace.of(field.fieldName()))
                .toList();

        assertThat(places)
                .doesNotContain(FieldPlace.NONE)
                .doesNotHaveDuplicates()
                .hasSize(FieldPlace.COUNT);
        assertThat(DatabaseField.values()).allMatch(field -> FieldPlace.name(FieldPlace.of(field.fieldName()))
                .equals(field.fieldName()));
        assertThat(FieldPlace.of("attribute.Thread_id")).isEqualTo(FieldPlace.NONE);
    }

    @Test
    void namesAreThoseOfTheTaxonomyOrOfEcs() {
        DatabaseFieldMapping fields = new DatabaseFieldMapping();
        LogSource mysql = new LogSource("", "mysql", "audit");

        assertThat(fields.resolve(mysql, "user")).contains("user");
        assertThat(fields.resolve(mysql, "source.ip")).contains("src_ip");
        assertThat(fields.resolve(mysql, "detail.plugin")).contains("detail.plugin");
        assertThat(fields.resolve(mysql, "CommandLine")).isEmpty();
        assertThat(fields.resolve(new LogSource("process_creation", "windows", ""), "CommandLine"))
                .contains("CommandLine");
        assertThat(fields.nearest("usr")).isEqualTo("user");
    }

    private static AuditEvent auditedQuery() {
        return AuditEvent.newBuilder()
                .setEventId(ID)
                .setCluster("")
                .setInstance("db1")
                .setSource("audit")
                .setLog("audit.log")
                .setGeneration(1)
                .setEntryOffset(70)
                .setEntryBytes(9)
                .setFormat("mariadb-audit")
                .setEventTime(TIME)
                .setEventClass("query")
                .setCommand("QUERY")
                .setUser("app")
                .setHost("10.0.0.9")
                .setDatabase("shop")
                .setVerb("SELECT")
                .setQueryId(-1L)
                .setTablesRead(List.of("orders", "mysql.user"))
                .setTablesWritten(List.of("audit.seen"))
                .setConnectionAttributes(Map.of("_os", "Linux"))
                .setAccounts(List.of("eve@%", "eve@10.0.0.%", "reader", "`a@``b`@h`"))
                .build();
    }

    @Test
    void auditEventsHaveUserAndOperation() {
        DetectionEvent made = DatabaseEventMapper.of(auditedQuery(), "select ?");

        assertThat(made.source()).isEqualTo(new LogSource("database", "mysql", "audit"));
        assertThat(made.micros()).isEqualTo(1795229070000001L);
        assertThat(made.order()).isEqualTo(70);
        assertThat(texts(made))
                .containsEntry("event_id", "00010203-0405-0607-0809-0a0b0c0d0e0f")
                .containsEntry("src_ip", "10.0.0.9")
                .containsEntry("table", "shop.orders,mysql.user,audit.seen")
                .containsEntry("table_written", "audit.seen")
                .containsEntry("query_id", "FFFFFFFFFFFFFFFF")
                .containsEntry("statement", "select ?")
                .containsEntry("target_account", "eve@%,eve@10.0.0.%,reader,`a@``b`@h`")
                .containsEntry("target_user", "eve,reader,a@`b")
                .containsEntry("outcome", "success")
                .containsEntry("status", "0")
                .containsEntry("connection_attribute._os", "Linux")
                .doesNotContainKeys("cluster", "error_code", "os_user", "connection_id");
    }

    @Test
    void anUnknownOutcomeIsNoSuccess() {
        QueryEvent event = QueryEvent.newBuilder()
                .setEventId(ID)
                .setCluster("c")
                .setInstance("db1")
                .setSource("slowlog")
                .setLog("slow.log")
                .setGeneration(1)
                .setEntryOffset(0)
                .setEntryBytes(9)
                .setFormat("mysql-slow")
                .setEventTime(TIME)
                .setUser("app")
                .setHost("web1")
                .setQueryId(1)
                .setRuleSet("")
                .setVerb("SELECT")
                .setQueryTime(0.5)
                .setRowsSent(7)
                .build();

        assertThat(texts(DatabaseEventMapper.of(event, "select ?")))
                .containsEntry("outcome", "unknown")
                .containsEntry("rows_sent", "7")
                .containsEntry("query_time", "0.5")
                .doesNotContainKeys("status", "src_ip", "rows_affected", "table");

        event.setErrorCode(1287);
        assertThat(texts(DatabaseEventMapper.of(event, "select ?")))
                .containsEntry("outcome", "success")
                .containsEntry("status", "1287");
    }

    @Test
    void aStatusOfZeroThatIsNoSuccessIsAbsent() {
        assertThat(texts(DatabaseEventMapper.of(located("table", "READ"), "")))
                .containsEntry("outcome", "unknown")
                .doesNotContainKeys("status", "login");
        assertThat(texts(DatabaseEventMapper.of(located("connection", "FAILED_CONNECT"), "")))
                .containsEntry("outcome", "failure")
                .containsEntry("login", "failure")
                .doesNotContainKey("status");
    }

    private static AuditEvent located(String eventClass, String command) {
        AuditEvent event = new AuditEventBuilder().blank();
        event.setEventId(ID);
        event.setEventTime(TIME);
        event.setCluster("");
        event.setInstance("db1");
        event.setSource("audit");
        event.setFormat("mariadb-audit");
        event.setFlags(List.of());
        event.setEventClass(eventClass);
        event.setCommand(command);
        return event;
    }

    @Test
    void errorEventsHaveTheirDetails() {
        ErrorEvent event = ErrorEvent.newBuilder()
                .setEventId(ID)
                .setCluster("c")
                .setInstance("db1")
                .setSource("errorlog")
                .setLog("error.log")
                .setGeneration(1)
                .setEntryOffset(0)
                .setEntryBytes(9)
                .setFormat("mysql-error")
                .setEventTime(TIME)
                .setCode("MY-010926")
                .setKind("access_denied")
                .setMessage("Access denied for user 'root'@'10.0.0.9'")
                .setUser("root")
                .setDetails(Map.of("using_password", "YES"))
                .build();

        assertThat(texts(DatabaseEventMapper.of(event)))
                .containsEntry("kind", "access_denied")
                .containsEntry("detail.using_password", "YES")
                .containsEntry("error_code", "MY-010926")
                .containsEntry("login", "failure")
                .containsEntry("outcome", "failure")
                .doesNotContainKeys("statement");
    }

    private static Map<String, String> texts(DetectionEvent event) {
        return event.fields().entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey,
                        field -> field.getValue().stream().map(Object::toString).collect(Collectors.joining(","))));
    }
}
