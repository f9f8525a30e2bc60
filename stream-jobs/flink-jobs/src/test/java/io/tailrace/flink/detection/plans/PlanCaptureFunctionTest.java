package io.tailrace.flink.detection.plans;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detect.PlanSighting;
import io.tailrace.event.DeadLetter;
import io.tailrace.event.PlanCapture;
import io.tailrace.event.StatementPlan;
import io.tailrace.flink.detection.Captures;
import io.tailrace.flink.ingest.KafkaMessage;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.flink.streaming.api.operators.ProcessOperator;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PlanCaptureFunctionTest {

    /** Output of EXPLAIN of MySQL 8.4, explain_json_format_version 1 and 2, of one statement. */
    private static final String FIRST_VERSION =
            """
            {"query_block": {"select_id": 1, "cost_info": {"query_cost": "2.60"}, "table": {
              "table_name": "orders", "access_type": "ref", "possible_keys": ["by_customer"], "key": "by_customer",
              "used_key_parts": ["customer"], "key_length": "5", "ref": ["const"], "rows_examined_per_scan": 10,
              "attached_condition": "(`shop`.`orders`.`note` = 'geheim')"}}}
            """;

    private static final String SECOND_VERSION =
            """
            {"query": "/* select#1 */ select 1", "query_plan": {"operation": "Filter: (orders.note = 'geheim')",
              "access_type": "filter", "condition": "(orders.note = 'geheim')", "inputs": [{
                "operation": "Index lookup on orders using by_customer (customer=7)", "access_type": "index",
                "index_access_type": "index_lookup", "table_name": "orders", "schema_name": "shop",
                "index_name": "by_customer", "used_columns": ["customer"], "estimated_rows": 10}]},
              "query_type": "select", "json_schema_version": "2.0"}
            """;

    private OneInputStreamOperatorTestHarness<KafkaMessage, PlanSighting> captures;

    @BeforeEach
    void open() throws Exception {
        captures = new OneInputStreamOperatorTestHarness<>(new ProcessOperator<>(new PlanCaptureFunction("1.0")));
        captures.open();
        captures.setProcessingTime((long) (Captures.AT * 1000) + 60_000);
    }

    @AfterEach
    void close() throws Exception {
        captures.close();
    }

    private void read(String status, String error, String plan) throws Exception {
        read(Captures.message(Captures.envelope(status, error, plan)));
    }

    private void read(KafkaMessage message) throws Exception {
        captures.processElement(message, 0);
    }

    private <T> List<T> side(OutputTag<T> tag) {
        var records = captures.getSideOutput(tag);
        return records == null
                ? List.of()
                : records.stream().map(record -> record.getValue()).toList();
    }

    private PlanCapture capture() {
        List<PlanCapture> all = side(PlanCaptureFunction.CAPTURES);
        return all.get(all.size() - 1);
    }

    @Test
    void aPlanIsARowAndASighting() throws Exception {
        read("ok", "", FIRST_VERSION);
        StatementPlan plan = side(PlanCaptureFunction.PLANS).get(0);
        assertThat(plan.getSource()).isEqualTo("explain");
        assertThat(plan.getTables()).containsExactly("orders");
        assertThat(plan.getAccessTypes()).containsExactly("ref");
        assertThat(plan.getFormat()).isEqualTo("mysql-1");
        assertThat(plan.getServerVersion()).isEqualTo("8.4.3");
        assertThat(plan.getSeenAt()).isEqualTo(Instant.ofEpochMilli((long) (Captures.AT * 1000)));
        assertThat(plan.toString()).doesNotContain("geheim");
        assertThat(capture().getPlanHash()).isEqualTo(plan.getPlanHash());
        assertThat(capture().getStatus()).isEqualTo("ok");
        assertThat(capture().getSeconds()).isEqualTo(0.0125);
        assertThat(captures.extractOutputValues()).singleElement().satisfies(observation -> {
            assertThat(observation.isCapture()).isTrue();
            assertThat(observation.plan()).isEqualTo(plan.getPlanHash());
            assertThat(observation.queryId()).isEqualTo(0xFEDCBA9876543210L);
            assertThat(observation.micros()).isEqualTo((long) (Captures.AT * 1_000_000));
        });
    }

    @Test
    void bothVersionsOfMySqlsFormatAreOnePlan() throws Exception {
        read("ok", "", FIRST_VERSION);
        read("ok", "", SECOND_VERSION);
        assertThat(side(PlanCaptureFunction.PLANS))
                .extracting(StatementPlan::getPlanHash)
                .hasSize(2);
        assertThat(side(PlanCaptureFunction.PLANS))
                .extracting(StatementPlan::getPlanHash)
                .containsOnly(capture().getPlanHash());
    }

    @Test
    void aServersErrorIsAFact() throws Exception {
        read("denied", "1142: SELECT command denied to user 'a'@'b' for table 'orders'", "");
        assertThat(capture().getStatus()).isEqualTo("denied");
        assertThat(capture().getError()).endsWith("for table 'orders'");
        assertThat(capture().getPlanHash()).isEmpty();
        assertNoPlan();
    }

    @Test
    void aDocumentThatIsNoWholePlanIsUnreadable() throws Exception {
        for (int length = 0; length < FIRST_VERSION.strip().length(); length++) {
            read("ok", "", FIRST_VERSION.strip().substring(0, length));
            assertThat(capture().getStatus()).as("%d bytes", length).isEqualTo("unreadable");
            assertThat(capture().getError()).isNotEmpty().doesNotContain("geheim");
        }
        read("ok", "", "{\"query_block\":" + "{\"table\":".repeat(100_000));
        assertThat(capture().getStatus()).isEqualTo("unreadable");
        read("ok", "", "ERROR 1064 (42000): near 'geheim'");
        assertThat(capture().getError()).isEqualTo("no plan in the document of 33 bytes");
        assertNoPlan();
    }

    /** Brackets of a literal close the document, so it does not appear truncated. */
    @Test
    void aPlanWithAmbiguousLiteralsIsUnreadable() throws Exception {
        read(
                "ok",
                "",
                "{\"query_block\": {\"table\": {\"table_name\": \"t\", \"access_type\": \"ALL\", "
                        + "\"attached_condition\": \"t.doc = '{\", \"key\": \"geheim\"}}}");
        assertThat(capture().getStatus()).isEqualTo("unreadable");
        assertThat(capture().getError())
                .startsWith("the plan's quotes do not match")
                .doesNotContain("geheim");
        assertNoPlan();
    }

    @Test
    void aThousandLevelsAreRead() throws Exception {
        read(
                "ok",
                "",
                "{\"query_block\":" + "{\"ordering_operation\":".repeat(1000) + "{\"table\":{\"table_name\":\"t\"}}"
                        + "}".repeat(1001));
        assertThat(capture().getStatus()).isEqualTo("ok");
        assertThat(captures.extractOutputValues()).hasSize(1);
    }

    @Test
    void aDocumentOfTenMegabytesIsTooLong() throws Exception {
        read("ok", "", "{\"query_block\": {\"x\": \"" + "x".repeat(10 << 20) + "\"}}");
        assertThat(capture().getStatus()).isEqualTo("unreadable");
        assertThat(capture().getError()).isEqualTo("the plan has 10,485,786 bytes; the maximum is 4,194,304");
        assertNoPlan();
    }

    @Test
    void aPlanWithoutTablesIsARowButNotThePlanOfTheStatement() throws Exception {
        read("ok", "", "{\"query_block\": {\"select_id\": 1, \"message\": \"Impossible WHERE\"}}");
        assertThat(capture().getStatus()).isEqualTo("ok");
        assertThat(side(PlanCaptureFunction.PLANS)).hasSize(1);
        assertThat(captures.extractOutputValues()).isEmpty();
    }

    @Test
    void aMessageThatIsNoCaptureIsADeadLetter() throws Exception {
        Map<String, Object> good = Captures.envelope("ok", "", FIRST_VERSION);
        byte[] whole = Captures.message(good).value();
        for (int length = 0; length < whole.length; length++) {
            read(Captures.message(Arrays.copyOf(whole, length)));
        }
        List<DeadLetter> letters = side(PlanCaptureFunction.DEAD_LETTERS);
        assertThat(letters).hasSize(whole.length);
        assertThat(letters).allSatisfy(letter -> {
            assertThat(letter.getLog()).isEqualTo("kafka:" + Captures.TOPIC + "/2");
            assertThat(letter.getCode()).isEqualTo("MALFORMED_MESSAGE");
            assertThat(letter.getInstance()).isEqualTo("db-1");
        });
        assertNoPlan();
    }

    @Test
    void whatLacksAMemberIsADeadLetter() throws Exception {
        for (String member : new String[] {"v", "at", "instance", "query_id", "status"}) {
            Map<String, Object> envelope = Captures.envelope("ok", "", FIRST_VERSION);
            envelope.remove(member);
            read(Captures.message(envelope));
        }
        Map<String, Object> envelope = Captures.envelope("ok", "", FIRST_VERSION);
        envelope.put("query_id", "FEDCBA987654321-");
        read(Captures.message(envelope));
        assertThat(side(PlanCaptureFunction.DEAD_LETTERS)).hasSize(6);
        assertNoPlan();
    }

    @Test
    void aPlanOfTheFutureIsADeadLetter() throws Exception {
        Map<String, Object> envelope = Captures.envelope("ok", "", FIRST_VERSION);
        envelope.put("at", Captures.AT + 3_600);
        read(Captures.message(envelope));
        assertThat(side(PlanCaptureFunction.DEAD_LETTERS)).isEmpty();
        envelope.put("at", Captures.AT + 3_700);
        read(Captures.message(envelope));
        assertThat(side(PlanCaptureFunction.DEAD_LETTERS))
                .singleElement()
                .satisfies(letter -> assertThat(letter.getMessage()).startsWith("at is more than an hour ahead"));
        assertThat(captures.extractOutputValues()).hasSize(1);
    }

    private void assertNoPlan() {
        assertThat(side(PlanCaptureFunction.PLANS)).isEmpty();
        assertThat(captures.extractOutputValues()).isEmpty();
    }
}
