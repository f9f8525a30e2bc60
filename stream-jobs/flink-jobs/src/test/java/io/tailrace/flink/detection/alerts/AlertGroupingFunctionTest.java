package io.tailrace.flink.detection.alerts;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detect.RuleRecord;
import io.tailrace.event.Alert;
import io.tailrace.event.EventId;
import io.tailrace.flink.detection.rules.InitialRules;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.co.CoBroadcastWithKeyedOperator;
import org.apache.flink.streaming.util.KeyedTwoInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;

class AlertGroupingFunctionTest {

    private static final Duration GROUP = Duration.ofMinutes(10);
    private static final Duration UPDATE = Duration.ofSeconds(5);
    private static final Duration REMEMBERED = Duration.ofDays(8);
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
                    .hasSize(2)
                    .containsOnly(group.extractOutputValues().get(0).getAlertId());
        }
    }

    @Test
    void lateAlertsContinueTheCountOfTheirIntervalUntilItExpires() throws Exception {
        try (var group = group()) {
            group.processElement1(alert(1), 0);
            group.processElement1(alert(2), 0);
            group.setProcessingTime(NOW + UPDATE.toMillis());
            group.setProcessingTime(NOW + 6 * GROUP.toMillis());
            group.processElement1(alert(3), 0);
            assertThat(group.extractOutputValues()).extracting(Alert::getCount).containsExactly(1L, 2L, 3L);
            assertThat(group.extractOutputValues().get(2)).satisfies(raised -> {
                assertThat(raised.getEventIds()).containsExactly("event 1", "event 2", "event 3");
                assertThat(raised.getTags()).containsExactly("attack.t1110");
            });
            group.setProcessingTime(NOW + 6 * GROUP.toMillis() + REMEMBERED.toMillis());
            assertThat(group.numKeyedStateEntries()).isZero();
        }
    }

    @Test
    void theSummaryOfMoreEventsReplacesTheText() throws Exception {
        try (var group = group()) {
            for (int metric = 1; metric <= 3; metric++) {
                Alert alert = alert(metric);
                alert.setMetric(metric == 3 ? 1 : metric);
                alert.setFacts(Map.of("new_today", Integer.toString(metric)));
                group.processElement1(alert, 0);
            }
            group.setProcessingTime(NOW + UPDATE.toMillis());
            assertThat(group.extractOutputValues()).last().satisfies(raised -> {
                assertThat(raised.getCount()).isEqualTo(3);
                assertThat(raised.getFacts()).isEqualTo(Map.of("new_today", "2"));
            });
        }
    }

    @Test
    void anAlertOfAnotherIntervalIsAnotherOne() throws Exception {
        try (var group = group()) {
            group.processElement1(alert(1), 0);
            group.processElement1(alert(1, TIME.plus(GROUP)), 0);
            assertThat(newest(group.extractOutputValues())).hasSize(2);
        }
    }

    /** Simulates kill -9 between two checkpoints: input after the checkpoint is repeated in any order. */
    @Test
    void alertsThatComeAgainInAnotherOrderMeetTheRowsThatTheyHad() throws Exception {
        List<Alert> all = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            all.add(alert(i, TIME.plusSeconds(i * 37)));
        }
        OperatorSubtaskState checkpoint;
        List<Alert> written = new ArrayList<>();
        try (var group = group()) {
            feed(group, all.subList(0, 10));
            checkpoint = group.snapshot(1, 1);
            feed(group, all.subList(10, 40));
            group.setProcessingTime(NOW + UPDATE.toMillis());
            written.addAll(group.extractOutputValues());
        }
        Map<EventId, Long> expected = newest(written);
        assertThat(expected.values().stream().mapToLong(Long::longValue).sum()).isEqualTo(40);
        for (int seed = 0; seed < 20; seed++) {
            List<Alert> tail = new ArrayList<>(all.subList(10, 40));
            Collections.shuffle(tail, new Random(seed));
            List<Alert> rows = new ArrayList<>(written);
            try (var group = group(InitialRules.NONE, checkpoint, NOW + 2 * UPDATE.toMillis())) {
                feed(group, tail);
                group.setProcessingTime(NOW + 4 * UPDATE.toMillis());
                rows.addAll(group.extractOutputValues());
            }
            assertThat(newest(rows)).as("seed " + seed).isEqualTo(expected);
        }
    }

    private static void feed(
            KeyedTwoInputStreamOperatorTestHarness<String, Alert, RuleRecord, Alert> group, List<Alert> alerts)
            throws Exception {
        for (Alert alert : alerts) {
            group.processElement1(Alert.newBuilder(alert).build(), 0);
        }
    }

    /** Returns the contents of tailrace.alerts: the count of the row of each id that was updated last. */
    private static Map<EventId, Long> newest(List<Alert> rows) {
        Map<EventId, Alert> newest = new HashMap<>();
        rows.forEach(row ->
                newest.merge(row.getAlertId(), row, (a, b) -> b.getUpdatedAt().isBefore(a.getUpdatedAt()) ? a : b));
        return newest.entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, entry -> entry.getValue()
                .getCount()));
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
    void suppressedAlertsAreMarkedUntilTheSuppressionEnds() throws Exception {
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
    void anUnreadableSuppressionAndOneOfAnotherEntitySuppressNothing() throws Exception {
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
    void aCancelledSuppressionEnds() throws Exception {
        try (var group = group()) {
            group.processElement2(silence(TIME.plusSeconds(60).toString(), "root"), 0);
            group.processElement2(new RuleRecord(9, "silence/1", ""), 0);
            group.processElement1(alert(1), 0);
            assertThat(group.extractOutputValues())
                    .extracting(Alert::getSilenced)
                    .containsExactly(false);
        }
    }

    @Test
    void endedSuppressionsAreNotStored() throws Exception {
        String soon = TIME.plusSeconds(60).toString();
        RuleRecord atStart = silence(0, "silence/0", soon, "root");
        InitialRules newest = new InitialRules(RuleRecord.NO_RULES, Map.of("silence/0", atStart), 0);
        try (var group = group(newest, null, NOW)) {
            group.processElement2(atStart, 0);
            assertThat(kept(group)).isEmpty();
            group.processElement2(silence(1, "silence/1", soon, "app"), 0);
            group.processElement2(silence(2, "silence/2", soon, "admin"), 0);
            group.processElement2(new RuleRecord(3, "silence/1", ""), 0);
            assertThat(kept(group)).containsExactly("silence/2");
            group.processElement2(new RuleRecord(4, "silence/0", ""), 0);
            assertThat(kept(group)).containsExactlyInAnyOrder("silence/0", "silence/2");
            group.processElement1(alert(1), 0);
            assertThat(group.extractOutputValues())
                    .extracting(Alert::getSilenced)
                    .containsExactly(false);
            group.setProcessingTime(NOW + 60_000);
            group.processElement2(silence(5, "silence/5", TIME.plusSeconds(90).toString(), "x"), 0);
            assertThat(kept(group)).containsExactlyInAnyOrder("silence/0", "silence/5");
        }
    }

    @Test
    void suppressionsSinceTheStartAreInTheCheckpointAndEarlierOnesInTheTopic() throws Exception {
        OperatorSubtaskState checkpoint;
        try (var group = group()) {
            group.processElement2(silence(TIME.plusSeconds(60).toString(), "root"), 0);
            checkpoint = group.snapshot(1, 1);
        }
        try (var group = group(InitialRules.NONE, checkpoint, NOW)) {
            group.processElement1(alert(1), 0);
            assertThat(group.extractOutputValues())
                    .extracting(Alert::getSilenced)
                    .containsExactly(true);
        }
        InitialRules endedSince = new InitialRules(RuleRecord.NO_RULES, Map.of(), 9);
        try (var group = group(endedSince, checkpoint, NOW)) {
            group.processElement1(alert(1), 0);
            assertThat(group.extractOutputValues())
                    .extracting(Alert::getSilenced)
                    .containsExactly(false);
        }
    }

    private static List<String> kept(KeyedTwoInputStreamOperatorTestHarness<String, Alert, RuleRecord, Alert> group)
            throws Exception {
        var operator = (CoBroadcastWithKeyedOperator<?, ?, ?, ?>) group.getOperator();
        List<String> keys = new ArrayList<>();
        operator.getOperatorStateBackend()
                .getBroadcastState(AlertGroupingFunction.SILENCES)
                .iterator()
                .forEachRemaining(entry -> keys.add(entry.getKey()));
        return keys;
    }

    private static RuleRecord silence(String until, String user) {
        return silence(1, "silence/1", until, user);
    }

    private static RuleRecord silence(long offset, String key, String until, String user) {
        return new RuleRecord(
                offset,
                key,
                "{\"id\": \"1\", \"rule\": \"rule\", \"entity\": {\"user\": \"" + user + "\"}, \"until\": \"" + until
                        + "\"}");
    }

    private static Alert alert(long number) {
        return alert(number, TIME);
    }

    private static Alert alert(long number, Instant time) {
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
        for (String none : List.of("statements", "next_steps", "false_positives")) {
            alert.put(alert.getSchema().getField(none).pos(), List.of());
        }
        alert.setTags(List.of("attack.t1110"));
        alert.setEventIds(List.of("event " + number));
        alert.setRuleId("rule");
        alert.setEntity(Map.of("user", "root"));
        alert.setEntityKey("user=root");
        alert.setFacts(Map.of());
        alert.setEventTime(time);
        alert.setWindowFrom(time);
        alert.setSeenAt(TIME);
        alert.setUpdatedAt(TIME);
        alert.setCount(1);
        alert.setMetric(1);
        return alert;
    }

    private static KeyedTwoInputStreamOperatorTestHarness<String, Alert, RuleRecord, Alert> group() throws Exception {
        return group(InitialRules.NONE, null, NOW);
    }

    /** @param checkpoint null: without state */
    private static KeyedTwoInputStreamOperatorTestHarness<String, Alert, RuleRecord, Alert> group(
            InitialRules newest, OperatorSubtaskState checkpoint, long now) throws Exception {
        var operator = new CoBroadcastWithKeyedOperator<>(
                new AlertGroupingFunction(newest, GROUP, UPDATE, REMEMBERED), List.of(AlertGroupingFunction.SILENCES));
        var group = new KeyedTwoInputStreamOperatorTestHarness<>(
                operator, alert -> AlertGroupingFunction.key(alert, GROUP), null, Types.STRING);
        group.setProcessingTime(now);
        if (checkpoint != null) {
            group.initializeState(checkpoint);
        }
        group.open();
        return group;
    }
}
