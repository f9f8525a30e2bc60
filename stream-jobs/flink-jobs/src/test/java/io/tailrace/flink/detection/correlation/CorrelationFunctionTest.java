package io.tailrace.flink.detection.correlation;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detect.AlertGroup;
import io.tailrace.detect.Evidence;
import io.tailrace.detect.RuleRecord;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.event.Alert;
import io.tailrace.flink.detection.Pushes;
import io.tailrace.flink.detection.events.EventRecord;
import io.tailrace.flink.detection.rules.RuleBroadcastState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.co.CoBroadcastWithKeyedOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.util.KeyedTwoInputStreamOperatorTestHarness;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CorrelationFunctionTest {

    private static final long START = 1_795_229_359_000L;
    private static final long LATENESS_MICROS = 60_000_000;
    private static final OutputTag<Evidence> NEXT = new OutputTag<>("next", EvidenceTypes.EVIDENCE);
    private static final String BRUTE_FORCE = "22222222-2222-4222-8222-222222222222";
    private static final String REFUSED_LOGIN = "11111111-1111-4111-8111-111111111111";

    @Test
    void recordsBetweenOperatorsAreSerializedWithoutKryo() {
        assertThat(TypeInformation.of(EventRecord.class)).isInstanceOf(PojoTypeInfo.class);
        assertThat(TypeInformation.of(RuleRecord.class)).isInstanceOf(PojoTypeInfo.class);
        assertThat(TypeInformation.of(AlertGroup.class)).isInstanceOf(PojoTypeInfo.class);
        assertThat(EvidenceTypes.STORED).isInstanceOf(PojoTypeInfo.class);
    }

    @Test
    void evidenceOfAPushThatHasNotComeYetWaitsForIt() throws Exception {
        try (var stage = stage(RuleRecord.NO_RULES)) {
            for (int i = 0; i < 12; i++) {
                stage.processElement1(evidence(4, i), 0);
            }
            stage.setProcessingTime(1_000);
            assertThat(alerts(stage)).isEmpty();
            stage.processElement2(new RuleRecord(4, RuleRecord.BUNDLE, Pushes.bruteForce("p")), 0);
            stage.setProcessingTime(1_100);
            assertThat(alerts(stage)).singleElement().satisfies(alert -> {
                assertThat(alert.getRuleTitle()).isEqualTo("Brute force");
                assertThat(alert.getUser()).isEqualTo("root");
                assertThat(alert.getMetric()).isEqualTo(10);
            });
            assertThat(stage.getSideOutput(NEXT)).singleElement().satisfies(reported -> {
                assertThat(reported.getValue().level()).isEqualTo(2);
                assertThat(reported.getValue().values()).containsExactly("root");
            });
        }
    }

    @Test
    void evidenceDoesNotWaitForEver() throws Exception {
        try (var stage = stage(RuleRecord.NO_RULES)) {
            stage.processElement1(evidence(4, 1), 0);
            assertThat(stage.numKeyedStateEntries()).isPositive();
            for (int second = 1; second <= 31; second++) {
                stage.setProcessingTime(second * 1_000L);
            }
            assertThat(stage.numKeyedStateEntries()).isZero();
        }
    }

    @Test
    void anOlderPushChangesNothing() throws Exception {
        try (var stage = stage(new RuleRecord(7, RuleRecord.BUNDLE, Pushes.bruteForce("p")))) {
            stage.processElement2(new RuleRecord(3, RuleRecord.BUNDLE, Pushes.json("old", Map.of())), 0);
            for (int i = 0; i < 10; i++) {
                stage.processElement1(evidence(7, i), 0);
            }
            assertThat(alerts(stage)).hasSize(1);
        }
    }

    @Test
    void recordsOfAnActionCountOnceAndTheAlertNamesItsStatement() throws Exception {
        try (var stage = stage(new RuleRecord(7, RuleRecord.BUNDLE, Pushes.bruteForce("p")))) {
            for (int i = 0; i < 10; i++) {
                stage.processElement1(evidence(7, i, "", List.of()), 0);
                stage.processElement1(evidence(7, i, "statement-" + i, List.of()), 0);
            }
            assertThat(alerts(stage)).singleElement().satisfies(alert -> {
                assertThat(alert.getMetric()).isEqualTo(10);
                assertThat(alert.getEventIds())
                        .startsWith("statement-0", "statement-1")
                        .endsWith("statement-8", "event-9");
            });
        }
    }

    @Test
    void eventsOutOfOrderCountAndStateIsForgottenInTheEnd() throws Exception {
        try (var stage = stage(new RuleRecord(7, RuleRecord.BUNDLE, Pushes.bruteForce("p")))) {
            for (int i = 9; i > 0; i--) {
                stage.processElement1(evidence(7, i), 0);
            }
            stage.processBothWatermarks(new Watermark(START + 50_000));
            assertThat(alerts(stage)).isEmpty();
            stage.processElement1(evidence(7, 0), 0);
            assertThat(alerts(stage)).singleElement().satisfies(alert -> assertThat(alert.getLate())
                    .isFalse());
            for (int minute = 1; minute < 60; minute++) {
                stage.processBothWatermarks(new Watermark(START + minute * 60_000L));
            }
            assertThat(stage.numKeyedStateEntries()).isZero();
            assertThat(stage.numEventTimeTimers()).isZero();
        }
    }

    @Test
    void averagesWaitForTheWatermarkAlsoAfterARestore() throws Exception {
        String average = Pushes.BRUTE_FORCE
                .replace("event_count", "value_avg")
                .replace("gte: 10", "gte: 2.5\n    field: rows_sent");
        RuleRecord push = new RuleRecord(
                7, RuleRecord.BUNDLE, Pushes.json("p", Map.of("a.yml", Pushes.REFUSED_LOGIN, "b.yml", average)));
        OperatorSubtaskState state;
        try (var stage = stage(push)) {
            stage.processElement1(evidence(7, 3, List.of("4")), 0);
            stage.processElement1(evidence(7, 2, List.of("many")), 0);
            state = stage.snapshot(1, 0);
        }
        try (var stage = unopened(push)) {
            stage.initializeState(state);
            stage.open();
            stage.processElement1(evidence(7, 1, List.of("1")), 0);
            stage.processElement1(evidence(7, 4, List.of("3")), 0);
            assertThat(alerts(stage)).isEmpty();
            stage.processBothWatermarks(new Watermark(START + 10_000));
            assertThat(alerts(stage)).singleElement().satisfies(alert -> {
                assertThat(alert.getEventTime().toEpochMilli()).isEqualTo(START + 3_000);
                assertThat(alert.getFacts()).containsEntry("value", "2.5").containsEntry("matches", "2");
            });
            for (int minute = 1; minute < 60; minute++) {
                stage.processBothWatermarks(new Watermark(START + minute * 60_000L));
            }
            assertThat(stage.numKeyedStateEntries()).isZero();
        }
    }

    @Test
    void aGroupStaysKnownAfterARestore() throws Exception {
        RuleRecord push = knownByWork("");
        OperatorSubtaskState state;
        try (var stage = stage(push)) {
            Evidence work = evidence(7, 1, List.of("db-1"));
            stage.processElement1(ofRule("44444444-4444-4444-8444-111111111111", work), 0);
            assertThat(alerts(stage)).isEmpty();
            state = stage.snapshot(1, 0);
        }
        try (var stage = unopened(push)) {
            stage.initializeState(state);
            stage.open();
            stage.processElement1(evidence(7, 9, List.of("db-1")), 0);
            stage.processElement1(evidence(7, 9, List.of("db-2")), 0);
            assertThat(alerts(stage))
                    .extracting(
                            alert -> alert.getLevel() + " " + alert.getFacts().get("known_since"))
                    .containsExactly("low " + Instant.ofEpochMilli(START + 1_000), "high null");
        }
    }

    @Test
    void evidenceOfTheFirstDaysOfAnInstanceHasTheLevelLow() throws Exception {
        String first = Pushes.BRUTE_FORCE.replace("gte: 10", "gte: 1\n  learning: 14d");
        RuleRecord push = new RuleRecord(
                7, RuleRecord.BUNDLE, Pushes.json("p", Map.of("a.yml", Pushes.REFUSED_LOGIN, "b.yml", first)));
        for (Map.Entry<Map<String, String>, String> expected : Map.of(
                        Map.of(DetectionEvent.HISTORY, "13"), "low",
                        Map.of(DetectionEvent.HISTORY, "14"), "high",
                        Map.<String, String>of(), "high")
                .entrySet()) {
            try (var stage = stage(push)) {
                stage.processElement1(about(expected.getKey(), evidence(7, 1)), 0);
                assertThat(alerts(stage)).extracting(Alert::getLevel).containsExactly(expected.getValue());
            }
        }
    }

    private static Evidence about(Map<String, String> fields, Evidence of) {
        return copy(of, of.rule(), fields);
    }

    /** Returns a push with a correlation for which the rule "worked" makes an account known after five seconds. */
    private static RuleRecord knownByWork(String more) throws Exception {
        String worked = Pushes.REFUSED_LOGIN
                .replace("refused_login", "worked")
                .replace("11111111-1111-4111-8111", "44444444-4444-4444-8444");
        String known = Pushes.BRUTE_FORCE
                .replace("event_count", "value_count")
                .replace("gte: 10", "gte: 1\n    field: instance\n  repeat_level: low")
                .concat("  known_by: worked\n  known_after: 5s\n" + more);
        return new RuleRecord(
                7,
                RuleRecord.BUNDLE,
                Pushes.json("p", Map.of("a.yml", Pushes.REFUSED_LOGIN, "b.yml", known, "c.yml", worked)));
    }

    /** A client that tries names must not fill the state with them. */
    @Test
    void matchesOfUnknownGroupsLeaveNoState() throws Exception {
        RuleRecord push = knownByWork("  known_only: true\n");
        try (var stage = stage(push)) {
            stage.processElement1(evidence(7, 9, List.of("db-1")), 0);
            assertThat(alerts(stage)).isEmpty();
            assertThat(stage.numKeyedStateEntries()).isZero();
            assertThat(stage.numEventTimeTimers()).isZero();
            stage.processElement1(ofRule("44444444-4444-4444-8444-111111111111", evidence(7, 10, List.of("db-1"))), 0);
            stage.processElement1(evidence(7, 20, List.of("db-2")), 0);
            assertThat(alerts(stage)).extracting(Alert::getLevel).containsExactly("high");
        }
    }

    private static Evidence ofRule(String rule, Evidence of) {
        return copy(of, rule, of.about());
    }

    private static Evidence copy(Evidence of, String rule, Map<String, String> about) {
        return new Evidence(
                of.push(),
                of.level(),
                of.consumer(),
                of.group(),
                rule,
                of.eventId(),
                of.actionId(),
                of.micros(),
                of.order(),
                of.values(),
                of.amount(),
                of.statement(),
                of.late(),
                about);
    }

    @Test
    void anExceptionOfACorrelationOfCorrelationsKeepsTheirAlerts() throws Exception {
        String exception =
                """
                title: Known
                exception:
                  rule: 33333333-3333-4333-8333-333333333333
                  selection: {user: %s}
                  reason: ticket 1
                  owner: dba
                  expires: 2100-01-01
                """;
        for (String user : List.of("root", "other")) {
            Map<String, String> files = Map.of(
                    "a.yml", Pushes.REFUSED_LOGIN,
                    "b.yml", Pushes.BRUTE_FORCE,
                    "c.yml", Pushes.TWO_USERS,
                    "e.yml", exception.formatted(user));
            try (var stage = stage(new RuleRecord(7, RuleRecord.BUNDLE, Pushes.json("p", files)))) {
                for (int i = 0; i < 10; i++) {
                    stage.processElement1(evidence(7, i), 0);
                }
                assertThat(alerts(stage)).hasSize(1);
                assertThat(stage.getSideOutput(NEXT) == null).isEqualTo("root".equals(user));
            }
        }
    }

    /** Nobody can look up an alert that is not raised. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void evidenceOfAnAlertThatIsNotRaisedNamesItsLastEvent(boolean raised) throws Exception {
        String users = Pushes.TWO_USERS.replace("generate: true", "generate: " + raised);
        Map<String, String> files = Map.of("a.yml", Pushes.REFUSED_LOGIN, "b.yml", Pushes.BRUTE_FORCE, "c.yml", users);
        try (var stage = stage(new RuleRecord(7, RuleRecord.BUNDLE, Pushes.json("p", files)))) {
            for (int i = 0; i < 10; i++) {
                stage.processElement1(evidence(7, i), 0);
            }
            assertThat(alerts(stage)).hasSize(raised ? 1 : 0);
            Evidence next = stage.getSideOutput(NEXT).peek().getValue();
            assertThat(next.eventId()).isEqualTo(raised ? next.actionId() : "event-9");
        }
    }

    private static Evidence evidence(long push, int number) {
        return evidence(push, number, List.of());
    }

    private static Evidence evidence(long push, int number, List<String> values) {
        return evidence(push, number, "event-" + number, values);
    }

    private static Evidence evidence(long push, int number, String eventId, List<String> values) {
        return new Evidence(
                push,
                1,
                BRUTE_FORCE,
                List.of("root"),
                REFUSED_LOGIN,
                eventId,
                "event-" + number,
                (START + number * 1_000L) * 1_000,
                number,
                values,
                0,
                "",
                false,
                Map.of("user", "root", "instance", "db-1"));
    }

    private static KeyedTwoInputStreamOperatorTestHarness<String, Evidence, RuleRecord, Alert> stage(RuleRecord initial)
            throws Exception {
        var stage = unopened(initial);
        stage.open();
        return stage;
    }

    private static KeyedTwoInputStreamOperatorTestHarness<String, Evidence, RuleRecord, Alert> unopened(
            RuleRecord initial) throws Exception {
        var operator = new CoBroadcastWithKeyedOperator<>(
                new CorrelationFunction(new RuleBroadcastState(initial, LATENESS_MICROS), NEXT),
                List.of(RuleBroadcastState.STATE));
        return new KeyedTwoInputStreamOperatorTestHarness<>(operator, Evidence::key, null, Types.STRING);
    }

    private static List<Alert> alerts(
            KeyedTwoInputStreamOperatorTestHarness<String, Evidence, RuleRecord, Alert> stage) {
        return new ArrayList<>(stage.extractOutputValues());
    }
}
