package io.tailrace.detect;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.Alert;
import io.tailrace.event.EventId;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.operators.co.CoBroadcastWithKeyedOperator;
import org.apache.flink.streaming.util.KeyedTwoInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;

class GroupAlertsTest {

    private static final Duration GROUP = Duration.ofMinutes(10);
    private static final Duration UPDATE = Duration.ofSeconds(5);
    private static final Instant TIME = Instant.parse("2026-11-21T02:49:19Z");
    private static final long NOW = TIME.toEpochMilli();

    @Test
    void furtherAlertsRaiseTheCountOfTheFirstAtMostEveryFewSeconds() throws Exception {
        try (var group = group()) {
            for (int i = 0; i < 100; i++) {
                group.processElement1(alert(i), 0);
            }
            assertThat(group.extractOutputValues()).extracting(Alert::getCount).containsExactly(1L);
            group.setProcessingTime(NOW + UPDATE.toMillis());
            assertThat(group.extractOutputValues()).extracting(Alert::getCount).containsExactly(1L, 100L);
            assertThat(group.extractOutputValues())
                    .extracting(Alert::getAlertId)
                    .containsOnly(alert(0).getAlertId());
            group.setProcessingTime(NOW + GROUP.toMillis());
            assertThat(group.numKeyedStateEntries()).isZero();
            group.processElement1(alert(200), 0);
            assertThat(group.extractOutputValues()).extracting(Alert::getCount).containsExactly(1L, 100L, 1L);
        }
    }

    @Test
    void theSameAlertAgainDoesNotCount() throws Exception {
        try (var group = group()) {
            for (int i = 0; i < 5; i++) {
                group.processElement1(alert(1), 0);
            }
            group.setProcessingTime(NOW + GROUP.toMillis());
            assertThat(group.extractOutputValues()).extracting(Alert::getCount).containsExactly(1L);
        }
    }

    @Test
    void whatASilenceCoversIsMarkedUntilItEnds() throws Exception {
        try (var group = group()) {
            group.processElement2(silence(TIME.plusSeconds(60).toString(), "ROOT"), 0);
            group.processElement1(alert(1), 0);
            assertThat(group.extractOutputValues())
                    .extracting(Alert::getSilenced)
                    .containsExactly(true);
            group.setProcessingTime(NOW + GROUP.toMillis());
            group.processElement1(alert(2), 0);
            assertThat(group.extractOutputValues())
                    .extracting(Alert::getSilenced)
                    .containsExactly(true, false);
        }
    }

    @Test
    void aSilenceOfAnotherEntityOrOneThatCannotBeReadHidesNothing() throws Exception {
        try (var group = group()) {
            group.processElement2(silence(TIME.plusSeconds(60).toString(), "admin"), 0);
            group.processElement2(new RuleRecord(2, "silence/2", "{\"until\": \"soon\"}"), 0);
            group.processElement2(new RuleRecord(3, "silence/3", "no json"), 0);
            group.processElement1(alert(1), 0);
            assertThat(group.extractOutputValues())
                    .extracting(Alert::getSilenced)
                    .containsExactly(false);
        }
    }

    @Test
    void aSilenceThatIsTakenBackEnds() throws Exception {
        try (var group = group()) {
            group.processElement2(silence(TIME.plusSeconds(60).toString(), "root"), 0);
            group.processElement2(new RuleRecord(9, "silence/1", ""), 0);
            group.processElement1(alert(1), 0);
            assertThat(group.extractOutputValues())
                    .extracting(Alert::getSilenced)
                    .containsExactly(false);
        }
    }

    private static RuleRecord silence(String until, String user) {
        return new RuleRecord(
                1,
                "silence/1",
                "{\"id\": \"1\", \"rule\": \"rule\", \"entity\": {\"user\": \"" + user + "\"}, \"until\": \"" + until
                        + "\"}");
    }

    private static Alert alert(long number) {
        Alert alert = new Alert();
        alert.setAlertId(
                new EventId(ByteBuffer.allocate(16).putLong(number).putLong(1).array()));
        for (String empty : List.of(
                "rule_title",
                "level",
                "cluster",
                "instance",
                "link_path",
                "user",
                "src_ip",
                "database",
                "program",
                "rule_file")) {
            alert.put(alert.getSchema().getField(empty).pos(), "");
        }
        for (String none : List.of("tags", "event_ids", "statements", "next_steps", "false_positives")) {
            alert.put(alert.getSchema().getField(none).pos(), List.of());
        }
        alert.setRuleId("rule");
        alert.setEntity(Map.of("user", "root"));
        alert.setEntityKey("user=root");
        alert.setFacts(Map.of());
        alert.setEventTime(TIME);
        alert.setWindowFrom(TIME);
        alert.setSeenAt(TIME);
        alert.setUpdatedAt(TIME);
        alert.setCount(1);
        alert.setMetric(1);
        return alert;
    }

    private static KeyedTwoInputStreamOperatorTestHarness<String, Alert, RuleRecord, Alert> group() throws Exception {
        var operator = new CoBroadcastWithKeyedOperator<>(
                new GroupAlerts(Map.of(), GROUP, UPDATE), List.of(GroupAlerts.SILENCES));
        var group = new KeyedTwoInputStreamOperatorTestHarness<>(operator, GroupAlerts::key, null, Types.STRING);
        group.open();
        group.setProcessingTime(NOW);
        return group;
    }
}
