package io.tailrace.flink.detection.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.tailrace.detect.PlanSighting;
import io.tailrace.flink.detection.Executions;
import io.tailrace.flink.detection.plans.CapturedStatementsState;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.api.operators.co.CoBroadcastWithKeyedOperator;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.streaming.util.KeyedTwoInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;

class EventDeduplicatorTest {

    private static final long CAPTURED = 0xFEDCBA9876543210L;
    private static final long OTHER = 5;
    /** Maximum number of subtasks. */
    private static final int MAX_COUNT = 128;

    private long offset;

    @Test
    void anEventPassesOnce() throws Exception {
        try (var filter = filter()) {
            EventRecord event = execution(CAPTURED, "", false);
            filter.processElement1(event, 0);
            filter.processElement1(event, 0);
            assertThat(filter.extractOutputValues()).singleElement().satisfies(passed -> assertThat(passed.execution())
                    .isNull());
        }
    }

    @Test
    void onlyExecutionsOfStatementsWithCapturedPlansAreMarked() throws Exception {
        try (var filter = filter()) {
            filter.processElement2(capture(0), 0);
            filter.processElement1(execution(CAPTURED, "", false), 0);
            filter.processElement1(execution(CAPTURED, "", true), 0);
            filter.processElement1(execution(OTHER, "", false), 0);
            filter.processElement1(execution(OTHER, "A", false), 0);
            assertThat(filter.extractOutputValues())
                    .extracting(event ->
                            event.execution() == null ? null : event.execution().plan())
                    .containsExactly("", null, null, "A");
            assertThat(filter.extractOutputValues().get(0).execution())
                    .extracting(PlanSighting::statement, PlanSighting::seconds, PlanSighting::rowsExamined)
                    .containsExactly(new PlanSighting.Statement("db-1", CAPTURED), 0.25, 9.0);
        }
    }

    @Test
    void whichWereCapturedIsKnownAfterARestartAndForAWeek() throws Exception {
        OperatorSubtaskState state;
        try (var filter = filter()) {
            filter.processElement2(capture(0), 0);
            state = filter.snapshot(1, 0);
        }
        try (var filter = filter(state)) {
            filter.processElement1(execution(CAPTURED, "", false), 0);
            filter.setProcessingTime(Duration.ofDays(8).toMillis());
            filter.processElement2(capture(OTHER), 0);
            filter.processElement1(execution(CAPTURED, "", false), 0);
            assertThat(filter.extractOutputValues())
                    .extracting(event -> event.execution() != null, EventRecord::queryId)
                    .containsExactly(tuple(true, CAPTURED), tuple(false, CAPTURED));
        }
    }

    @Test
    void eachOfMoreSubtasksKnowsThem() throws Exception {
        OperatorSubtaskState state;
        try (var filter = filter(MAX_COUNT, 1, 0, EventRecord::log)) {
            filter.open();
            filter.processElement2(capture(0), 0);
            state = filter.snapshot(1, 0);
        }
        int subtasks = 2;
        for (int subtask = 0; subtask < subtasks; subtask++) {
            OperatorSubtaskState its =
                    AbstractStreamOperatorTestHarness.repartitionOperatorState(state, MAX_COUNT, 1, subtasks, subtask);
            String log = logOf(subtasks, subtask);
            try (var filter = filter(MAX_COUNT, subtasks, subtask, event -> log)) {
                filter.initializeState(its);
                filter.open();
                filter.processElement1(execution(CAPTURED, "", false), 0);
                assertThat(filter.extractOutputValues())
                        .singleElement()
                        .satisfies(passed -> assertThat(passed.execution()).isNotNull());
            }
        }
    }

    /** Returns a log whose events are routed to this subtask. */
    private static String logOf(int subtasks, int subtask) {
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(Integer::toString)
                .filter(log -> KeyGroupRangeAssignment.assignKeyToParallelOperator(log, MAX_COUNT, subtasks) == subtask)
                .findFirst()
                .orElseThrow();
    }

    private static PlanSighting capture(long queryId) {
        return new PlanSighting("eu", "db-1", "shop", queryId == 0 ? CAPTURED : queryId, "A", 1, 0, 0, Double.NaN, 0);
    }

    private EventRecord execution(long queryId, String plan, boolean backfilled) throws Exception {
        return new EventDecoder().place(Executions.message(queryId, plan, offset += 100, backfilled));
    }

    private static KeyedTwoInputStreamOperatorTestHarness<String, EventRecord, PlanSighting, EventRecord> filter(
            OperatorSubtaskState... restored) throws Exception {
        var filter = filter(1, 1, 0, EventRecord::log);
        for (OperatorSubtaskState state : restored) {
            filter.initializeState(state);
        }
        filter.open();
        return filter;
    }

    private static KeyedTwoInputStreamOperatorTestHarness<String, EventRecord, PlanSighting, EventRecord> filter(
            int maxParallelism, int parallelism, int subtask, KeySelector<EventRecord, String> log) throws Exception {
        var operator = new CoBroadcastWithKeyedOperator<>(
                new EventDeduplicator(Duration.ofDays(8)), List.of(CapturedStatementsState.STATE));
        return new KeyedTwoInputStreamOperatorTestHarness<>(
                operator, log, null, Types.STRING, maxParallelism, parallelism, subtask);
    }
}
