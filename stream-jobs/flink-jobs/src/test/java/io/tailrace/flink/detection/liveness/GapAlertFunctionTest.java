package io.tailrace.flink.detection.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detect.RuleRecord;
import io.tailrace.event.Alert;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.SignedRange;
import io.tailrace.flink.detection.Gaps;
import io.tailrace.flink.detection.Pushes;
import io.tailrace.flink.detection.events.EventDecoder;
import io.tailrace.flink.detection.events.EventRecord;
import io.tailrace.flink.detection.rules.RuleBroadcastState;
import io.tailrace.flink.kafka.SingleObjectEncoder;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.flink.streaming.api.operators.co.CoBroadcastWithNonKeyedOperator;
import org.apache.flink.streaming.util.TwoInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;

class GapAlertFunctionTest {

    private static final Instant TIME = Instant.parse("2026-11-21T08:00:00.000005Z");

    @Test
    void aGapIsAnAlertThatIsTheSameWhenItComesAgain() throws Exception {
        try (var gaps = gaps("log_gap: {level: high}")) {
            gaps.processElement1(message("db-1", 4096), 0);
            gaps.processElement1(message("db-1", 4096), 0);
            gaps.processElement1(message("db-1", 8192), 0);

            List<Alert> alerts = gaps.extractOutputValues();
            assertThat(alerts).hasSize(3);
            assertThat(alerts.get(1).getAlertId()).isEqualTo(alerts.get(0).getAlertId());
            assertThat(alerts.get(2).getAlertId()).isNotEqualTo(alerts.get(0).getAlertId());
            Alert alert = alerts.get(0);
            assertThat(alert.getRuleTitle()).isEqualTo("Gap in a log");
            assertThat(alert.getLevel()).isEqualTo("high");
            assertThat(alert.getEventTime()).isEqualTo(TIME);
            assertThat(alert.getCluster()).isEqualTo("shop");
            assertThat(alert.getEntityKey()).isEqualTo("instance=db-1 log=/audit.log");
            assertThat(alert.getFacts()).containsEntry("from_offset", "4096").containsEntry("bytes", "100");
        }
    }

    @Test
    void nothingIsReportedWhereItIsOffOrTheServerIsExcepted() throws Exception {
        try (var gaps = gaps("log_gap: {exceptions: {instance: db-2}}")) {
            gaps.processElement1(message("db-2", 4096), 0);
            gaps.processElement2(rules(2, "census_timeout: {}"), 0);
            gaps.processElement1(message("db-1", 4096), 0);
            assertThat(gaps.extractOutputValues()).isEmpty();
            gaps.processElement2(rules(3, "log_gap: {}"), 0);
            gaps.processElement1(message("db-1", 4096), 0);
            assertThat(gaps.extractOutputValues()).hasSize(1);
        }
    }

    @Test
    void aSignedRangeThatFailedIsAnAlertThatIsTheSameWhenItComesAgain() throws Exception {
        try (var gaps = gaps("signed_range: {}")) {
            gaps.processElement1(failed("mismatch", 8), 0);
            gaps.processElement1(failed("mismatch", 8), 0);
            gaps.processElement1(failed("broken_chain", 9), 0);
            gaps.processElement1(message("db-1", 4096), 0);

            List<Alert> alerts = gaps.extractOutputValues();
            assertThat(alerts).hasSize(3);
            assertThat(alerts.get(1).getAlertId()).isEqualTo(alerts.get(0).getAlertId());
            assertThat(alerts.get(2).getAlertId()).isNotEqualTo(alerts.get(0).getAlertId());
            Alert alert = alerts.get(0);
            assertThat(alert.getRuleTitle()).isEqualTo("Signed range that cannot be verified");
            assertThat(alert.getLevel()).isEqualTo("high");
            assertThat(alert.getEntityKey()).isEqualTo("instance=db-1 log=/audit.log host=host-1");
            assertThat(alert.getFacts()).containsEntry("status", "mismatch").containsEntry("from_offset", "4096");
        }
    }

    @Test
    void rangesOfOneRecordThatFailedHaveAlertsOfTheirOwn() throws Exception {
        try (var gaps = gaps("signed_range: {}")) {
            String several = "{\"earlier_from\":0,\"from\":8192}";
            for (long from : new long[] {0, 4096, 4096}) {
                gaps.processElement1(failed("mismatch", 8, several, from), 0);
            }
            gaps.processElement1(failed("mismatch", 9, "{\"path\":\"\\\"earlier_from\\\":\"}", 0), 0);
            gaps.processElement1(failed("mismatch", 9, "{}", 4096), 0);
            List<String> ids = gaps.extractOutputValues().stream()
                    .map(alert -> alert.getAlertId().toString())
                    .toList();
            assertThat(ids).hasSize(5);
            assertThat(ids.get(1)).isNotEqualTo(ids.get(0)).isEqualTo(ids.get(2));
            assertThat(ids.get(4)).as("as before, for a record of one range").isEqualTo(ids.get(3));
        }
    }

    private static EventRecord failed(String status, long sequence) throws Exception {
        return failed(status, sequence, "{}", 4096);
    }

    private static EventRecord failed(String status, long sequence, String payload, long from) throws Exception {
        SignedRange range = SignedRange.newBuilder()
                .setCluster("shop")
                .setInstance("db-1")
                .setSource("audit")
                .setLog("/audit.log")
                .setHost("host-1")
                .setFromOffset(from)
                .setToOffset(from + 4096)
                .setKey("0123456789abcdef")
                .setSequence(sequence)
                .setPayload(payload)
                .setPayloadSha256("p" + sequence)
                .setSignature("s")
                .setStatus(status)
                .setSignedAt(TIME)
                .setVerifiedAt(TIME)
                .build();
        EventRecord message = new EventDecoder().place(new SingleObjectEncoder<>(SignedRange.class).encode(range));
        assertThat(message.posting()).isTrue();
        return message;
    }

    private static EventRecord message(String instance, long from) throws Exception {
        LedgerEntry gap = Gaps.lost(instance, from, from + 100, TIME);
        EventRecord message = new EventDecoder().place(new SingleObjectEncoder<>(LedgerEntry.class).encode(gap));
        assertThat(message.posting()).isTrue();
        return message;
    }

    private static RuleRecord rules(long offset, String detectors) throws Exception {
        return new RuleRecord(
                offset, RuleRecord.BUNDLE, Pushes.json("p" + offset, Map.of("detectors.yaml", detectors)));
    }

    private static TwoInputStreamOperatorTestHarness<EventRecord, RuleRecord, Alert> gaps(String detectors)
            throws Exception {
        var operator = new CoBroadcastWithNonKeyedOperator<>(
                new GapAlertFunction(new RuleBroadcastState(rules(1, detectors), 0)),
                List.of(RuleBroadcastState.STATE));
        var gaps = new TwoInputStreamOperatorTestHarness<>(operator);
        gaps.open();
        return gaps;
    }
}
