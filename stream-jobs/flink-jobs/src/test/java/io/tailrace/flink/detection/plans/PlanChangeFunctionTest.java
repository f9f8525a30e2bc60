package io.tailrace.flink.detection.plans;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.tailrace.detect.PlanSighting;
import io.tailrace.detect.RuleRecord;
import io.tailrace.event.Alert;
import io.tailrace.event.PlanChange;
import io.tailrace.flink.detection.Pushes;
import io.tailrace.flink.detection.rules.RuleBroadcastState;
import io.tailrace.plan.change.DetectedPlanChange;
import io.tailrace.plan.change.PlanBasis;
import io.tailrace.plan.change.PlanVerdict;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.co.CoBroadcastWithKeyedOperator;
import org.apache.flink.streaming.util.KeyedTwoInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;

class PlanChangeFunctionTest {

    private static final Instant START = Instant.parse("2026-11-21T08:00:00Z");
    private static final String SWITCHED_ON = "plan_regression: {}";
    private static final long STATEMENT = 0xFEDCBA9876543210L;

    private Instant now = START;
    private long offset;

    @Test
    void sightingsAreSerializedWithoutKryo() {
        assertThat(TypeInformation.of(PlanSighting.class)).isInstanceOf(PojoTypeInfo.class);
        assertThat(TypeInformation.of(PlanSighting.Statement.class)).isInstanceOf(PojoTypeInfo.class);
    }

    @Test
    void aChangeIsEmittedAndItsVerdictIsAnAlert() throws Exception {
        try (var plans = plans(SWITCHED_ON)) {
            run(plans, "A", 100, 0.01);
            run(plans, "B", 20, 0.1);
            assertThat(changes(plans))
                    .extracting(PlanChange::getVerdict, PlanChange::getOldPlan, PlanChange::getNewPlan)
                    .containsExactly(tuple("pending", "A", "B"), tuple("slower", "A", "B"));
            PlanChange slower = changes(plans).get(1);
            assertThat(slower.getChangedAt()).isEqualTo(START.plusSeconds(100));
            assertThat(slower.getVerdictAt()).isEqualTo(START.plusSeconds(119));
            assertThat(slower.getRowsExaminedBefore()).isEqualTo(7);
            assertThat(plans.extractOutputValues()).singleElement().satisfies(alert -> {
                assertThat(alert.getRuleTitle()).isEqualTo("Plan regression");
                assertThat(alert.getEntity()).isEqualTo(Map.of("instance", "db-1", "query_id", "FEDCBA9876543210"));
                assertThat(alert.getDatabase()).isEqualTo("shop");
                assertThat(alert.getFacts())
                        .containsEntry("old_plan", "A")
                        .containsEntry("new_plan", "B")
                        .containsEntry("executions_after", "20");
            });
        }
    }

    /** MariaDB's times are whole seconds, and the parsers' subtasks are not synchronized. */
    @Test
    void executionsThatComeInAnotherOrderAreFollowedInTheirs() throws Exception {
        List<PlanSighting> observations = new ArrayList<>();
        for (int i = 0; i < 150; i++) {
            observations.add(observation(i < 100 ? "A" : "B", i < 100 ? 0.01 : 0.1));
        }
        Collections.shuffle(observations, new Random(1));
        try (var plans = plans(SWITCHED_ON)) {
            see(plans, observations);
            assertThat(changes(plans)).extracting(PlanChange::getVerdict).containsExactly("pending", "slower");
        }
    }

    @Test
    void manyExecutionsAtOnceDoNotWait() throws Exception {
        try (var plans = plans(SWITCHED_ON)) {
            for (int i = 0; i < 2_000; i++) {
                plans.processElement1(observation(i < 1_000 ? "A" : "B", 0.01), 0);
            }
            assertThat(changes(plans)).isNotEmpty();
        }
    }

    @Test
    void aVerdictIsOfTheSameChangeAfterARestart() throws Exception {
        OperatorSubtaskState state;
        try (var plans = plans(SWITCHED_ON)) {
            run(plans, "A", 100, 0.01);
            run(plans, "B", 10, 0.1);
            state = plans.snapshot(1, 0);
        }
        try (var plans = plans(SWITCHED_ON, state)) {
            run(plans, "B", 10, 0.1);
            assertThat(changes(plans))
                    .extracting(PlanChange::getVerdict, PlanChange::getChangedAt)
                    .containsExactly(tuple("slower", START.plusSeconds(100)));
        }
    }

    @Test
    void changesAreEmittedAlsoWithoutTheDetector() throws Exception {
        try (var plans = plans("plan_regression: {enabled: false}")) {
            run(plans, "A", 100, 0.01);
            run(plans, "B", 20, 0.1);
            assertThat(changes(plans)).hasSize(2);
            assertThat(plans.extractOutputValues()).isEmpty();
        }
    }

    @Test
    void theDetectorDefinesTheRatioAndTheExceptions() throws Exception {
        try (var plans = plans("plan_regression: {ratio: 20}")) {
            run(plans, "A", 100, 0.01);
            run(plans, "B", 700, 0.1);
            assertThat(changes(plans)).last().satisfies(change -> assertThat(change.getVerdict())
                    .isEqualTo("no_difference"));
        }
        try (var plans = plans("plan_regression: {exceptions: {instance: db-1}}")) {
            run(plans, "A", 100, 0.01);
            run(plans, "B", 20, 0.1);
            assertThat(plans.extractOutputValues()).isEmpty();
        }
    }

    @Test
    void statementsWithoutPlansAreNotRememberedAndOthersAreForgotten() throws Exception {
        try (var plans = plans(SWITCHED_ON)) {
            plans.setProcessingTime(START.toEpochMilli());
            run(plans, "", 100, 0.01);
            assertThat(plans.numKeyedStateEntries()).isZero();
            run(plans, "A", 1, 0.01);
            plans.setProcessingTime(START.plus(Duration.ofDays(30)).toEpochMilli());
            assertThat(plans.numKeyedStateEntries()).isPositive();
            plans.setProcessingTime(START.plus(Duration.ofDays(37)).toEpochMilli());
            assertThat(plans.numKeyedStateEntries()).isZero();
            assertThat(plans.numProcessingTimeTimers()).isZero();
        }
    }

    @Test
    void executionsCountForThePlanThatWasCapturedLast() throws Exception {
        try (var plans = plans(SWITCHED_ON)) {
            see(plans, List.of(capture("A")));
            run(plans, "", 100, 0.01);
            see(plans, List.of(capture("A"), capture("B")));
            run(plans, "", 20, 0.1);
            assertThat(changes(plans))
                    .extracting(PlanChange::getVerdict, PlanChange::getBasis, PlanChange::getExecutionsBefore)
                    .containsExactly(tuple("pending", "captured", 100L), tuple("slower", "captured", 100L));
            assertThat(changes(plans).get(0).getOldPlanSeenAt()).isEqualTo(START.plusSeconds(101));
            assertThat(changes(plans).get(0).getChangedAt()).isEqualTo(START.plusSeconds(102));
            assertThat(plans.extractOutputValues()).singleElement().satisfies(alert -> assertThat(alert.getFacts())
                    .containsEntry("basis", "captured"));
        }
    }

    @Test
    void executionsThatComeWhileTheFirstCaptureStillWaitsCount() throws Exception {
        try (var plans = plans(SWITCHED_ON)) {
            plans.processElement1(capture("A"), 0);
            run(plans, "", 100, 0.01);
            see(plans, List.of(capture("A"), capture("B")));
            assertThat(changes(plans))
                    .extracting(PlanChange::getVerdict, PlanChange::getExecutionsBefore)
                    .containsExactly(tuple("pending", 100L));
        }
    }

    @Test
    void whatAnEarlierVersionDidNotRememberIsNoTime() {
        DetectedPlanChange.Executions some = new DetectedPlanChange.Executions(20, 0.01, 7);
        DetectedPlanChange change =
                new DetectedPlanChange(PlanBasis.LOGGED, "A", "B", 0, 1, PlanVerdict.SLOWER, "", 2, some, some);
        PlanChange record = PlanChangeFunction.record(change, observation("B", 0.01));
        assertThat(record.getOldPlanSeenAt()).isNull();
        assertThat(record.getChangedAt()).isEqualTo(Instant.EPOCH.plusNanos(1_000));
    }

    @Test
    void capturesAndTheirExecutionsGoOnAfterARestart() throws Exception {
        OperatorSubtaskState state;
        try (var plans = plans(SWITCHED_ON)) {
            see(plans, List.of(capture("A")));
            run(plans, "", 100, 0.01);
            see(plans, List.of(capture("A"), capture("B")));
            run(plans, "", 10, 0.1);
            state = plans.snapshot(1, 0);
        }
        try (var plans = plans(SWITCHED_ON, state)) {
            run(plans, "", 10, 0.1);
            assertThat(changes(plans))
                    .extracting(PlanChange::getVerdict, PlanChange::getExecutionsAfter)
                    .containsExactly(tuple("slower", 20L));
        }
    }

    @Test
    void aDayLaterAChangeWithoutAVerdictIsUnknown() throws Exception {
        try (var plans = plans(SWITCHED_ON)) {
            plans.setProcessingTime(START.toEpochMilli());
            run(plans, "A", 100, 0.01);
            run(plans, "B", 4, 0.1);
            Instant changed = START.plusSeconds(100);
            plans.setProcessingTime(changed.plus(Duration.ofDays(1)).toEpochMilli() - 1);
            assertThat(changes(plans)).extracting(PlanChange::getVerdict).containsExactly("pending");
            plans.setProcessingTime(changed.plus(Duration.ofDays(1)).toEpochMilli() + 1);
            assertThat(changes(plans)).last().satisfies(change -> {
                assertThat(change.getVerdict()).isEqualTo("unknown");
                assertThat(change.getReason()).isEqualTo("4 executions since the change");
                assertThat(change.getDatabase()).isEqualTo("shop");
            });
            assertThat(plans.extractOutputValues()).isEmpty();
        }
    }

    @Test
    void aChangeReadADayLateHasAnHourForItsVerdict() throws Exception {
        try (var plans = plans(SWITCHED_ON)) {
            Instant late = START.plus(Duration.ofDays(3));
            plans.setProcessingTime(late.toEpochMilli());
            run(plans, "A", 100, 0.01);
            run(plans, "B", 4, 0.1);
            plans.setProcessingTime(late.plus(Duration.ofMinutes(59)).toEpochMilli());
            assertThat(changes(plans)).hasSize(1);
            plans.setProcessingTime(late.plus(Duration.ofMinutes(61)).toEpochMilli());
            assertThat(changes(plans)).last().satisfies(change -> assertThat(change.getVerdict())
                    .isEqualTo("unknown"));
        }
    }

    @Test
    void howeverManyComeThereAreTwoTimers() throws Exception {
        try (var plans = plans(SWITCHED_ON)) {
            for (int i = 0; i < 10_001; i++) {
                plans.processElement1(observation("A", 0.01), 0);
            }
            assertThat(plans.numProcessingTimeTimers()).isEqualTo(2);
        }
    }

    /** Executions that arrive after a thousand others wait their complete five seconds. */
    @Test
    void noTimerShortensTheWaitOfOthers() throws Exception {
        try (var plans = plans(SWITCHED_ON)) {
            for (int i = 0; i < 2_000; i++) {
                plans.processElement1(observation("A", 0.01), 0);
            }
            plans.setProcessingTime(4_000);
            for (int i = 0; i < 3; i++) {
                plans.processElement1(observation("B", 0.01), 0);
            }
            plans.setProcessingTime(5_000);
            assertThat(changes(plans)).isEmpty();
            plans.setProcessingTime(9_000);
            assertThat(changes(plans)).hasSize(1);
        }
    }

    /** Each change is of the tracked database, regardless of executions in others. */
    @Test
    void ofManyTenantsOneIsFollowed() throws Exception {
        try (var plans = plans(SWITCHED_ON)) {
            see(plans, List.of(capture("ref"), capture("ref"), in("small", capture("ALL"))));
            run(plans, "", 100, 0.01);
            assertThat(changes(plans)).isEmpty();
            see(plans, List.of(capture("ref"), capture("ALL"), in("small", observation("", 0.01))));
            run(plans, "", 19, 0.1);
            see(
                    plans,
                    List.of(
                            in("small", observation("", 0.01)),
                            observation("", 0.1),
                            in("small", observation("", 0.01))));
            assertThat(changes(plans))
                    .extracting(PlanChange::getVerdict, PlanChange::getDatabase, PlanChange::getExecutionsAfter)
                    .containsExactly(tuple("pending", "shop", 0L), tuple("slower", "shop", 20L));
        }
    }

    @Test
    void aLateVerdictIsOfTheTrackedDatabase() throws Exception {
        try (var plans = plans(SWITCHED_ON)) {
            plans.setProcessingTime(START.toEpochMilli());
            see(plans, List.of(capture("ref"), capture("ALL"), in("small", observation("", 0.01))));
            plans.setProcessingTime(START.plus(Duration.ofDays(2)).toEpochMilli());
            assertThat(changes(plans))
                    .extracting(PlanChange::getVerdict, PlanChange::getDatabase)
                    .containsExactly(tuple("pending", "shop"), tuple("unknown", "shop"));
        }
    }

    private static PlanSighting in(String database, PlanSighting observation) {
        return new PlanSighting(
                observation.cluster(),
                observation.instance(),
                database,
                observation.queryId(),
                observation.plan(),
                observation.micros(),
                observation.generation(),
                observation.offset(),
                observation.seconds(),
                observation.rowsExamined());
    }

    private PlanSighting capture(String plan) {
        return observation(plan, Double.NaN);
    }

    private void run(
            KeyedTwoInputStreamOperatorTestHarness<PlanSighting.Statement, PlanSighting, RuleRecord, Alert> plans,
            String plan,
            int times,
            double seconds)
            throws Exception {
        List<PlanSighting> observations = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            observations.add(observation(plan, seconds * (1 + i % 3 / 10.0)));
        }
        see(plans, observations);
    }

    private PlanSighting observation(String plan, double seconds) {
        PlanSighting observation = new PlanSighting(
                "eu", "db-1", "shop", STATEMENT, plan, now.toEpochMilli() * 1000, 1, offset++, seconds, 7);
        now = now.plusSeconds(1);
        return observation;
    }

    private static void see(
            KeyedTwoInputStreamOperatorTestHarness<PlanSighting.Statement, PlanSighting, RuleRecord, Alert> plans,
            List<PlanSighting> observations)
            throws Exception {
        for (PlanSighting observation : observations) {
            plans.processElement1(observation, 0);
        }
        plans.setProcessingTime(plans.getProcessingTime() + 5_000);
    }

    private static List<PlanChange> changes(
            KeyedTwoInputStreamOperatorTestHarness<PlanSighting.Statement, PlanSighting, RuleRecord, Alert> plans) {
        var changes = plans.getSideOutput(PlanChangeFunction.CHANGES);
        return changes == null
                ? List.of()
                : changes.stream().map(record -> record.getValue()).toList();
    }

    private static KeyedTwoInputStreamOperatorTestHarness<PlanSighting.Statement, PlanSighting, RuleRecord, Alert>
            plans(String detectors, OperatorSubtaskState... restored) throws Exception {
        RuleRecord rules = new RuleRecord(1, RuleRecord.BUNDLE, Pushes.json("p", Map.of("detectors.yaml", detectors)));
        var operator = new CoBroadcastWithKeyedOperator<>(
                new PlanChangeFunction(new RuleBroadcastState(rules, 0)), List.of(RuleBroadcastState.STATE));
        var plans = new KeyedTwoInputStreamOperatorTestHarness<>(
                operator, PlanSighting::statement, null, TypeInformation.of(PlanSighting.Statement.class));
        for (OperatorSubtaskState state : restored) {
            plans.initializeState(state);
        }
        plans.open();
        return plans;
    }
}
