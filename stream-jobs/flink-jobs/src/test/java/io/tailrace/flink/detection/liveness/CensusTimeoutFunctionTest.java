package io.tailrace.flink.detection.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detect.HeardState;
import io.tailrace.detect.RuleRecord;
import io.tailrace.event.Alert;
import io.tailrace.flink.detection.Pushes;
import io.tailrace.flink.detection.rules.RuleBroadcastState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.co.CoBroadcastWithKeyedOperator;
import org.apache.flink.streaming.util.KeyedTwoInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;

class CensusTimeoutFunctionTest {

    private static final long START = Instant.parse("2026-11-21T08:00:00Z").toEpochMilli();
    private static final long MINUTE = 60_000;
    private static final long DAY = Duration.ofDays(1).toMillis();
    private static final String FIVE_MINUTES = "census_timeout: {timeout: 5m}";

    @Test
    void recordsAreSerializedWithoutKryo() {
        assertThat(TypeInformation.of(CensusHeartbeat.class)).isInstanceOf(PojoTypeInfo.class);
        assertThat(TypeInformation.of(HeardState.class)).isInstanceOf(PojoTypeInfo.class);
    }

    @Test
    void aMissingCensusRaisesOneAlertADay() throws Exception {
        try (var coverage = coverage(FIVE_MINUTES, START)) {
            received(coverage, "db-1", START, START);
            received(coverage, "db-2", START, START);
            pass(coverage, START, START + 4 * MINUTE, "db-2");
            assertThat(coverage.extractOutputValues()).isEmpty();
            pass(coverage, START + 4 * MINUTE, START + DAY, "db-2");
            assertThat(coverage.extractOutputValues()).singleElement().satisfies(alert -> {
                assertThat(alert.getRuleTitle()).isEqualTo("Census timeout of an instance");
                assertThat(alert.getLevel()).isEqualTo("high");
                assertThat(alert.getInstance()).isEqualTo("db-1");
                assertThat(alert.getCluster()).isEqualTo("shop");
                assertThat(alert.getFacts())
                        .containsEntry("last_seen", "2026-11-21T08:00:00Z")
                        .containsEntry("minutes", "5");
            });
            pass(coverage, START + DAY, START + DAY + 6 * MINUTE, "db-2");
            assertThat(coverage.extractOutputValues()).hasSize(2);
        }
    }

    @Test
    void aSecondTimeoutRaisesAnotherAlert() throws Exception {
        try (var coverage = coverage(FIVE_MINUTES, START)) {
            received(coverage, "db-1", START, START);
            pass(coverage, START, START + 7 * MINUTE);
            received(coverage, "db-1", START + 7 * MINUTE, START + 7 * MINUTE);
            pass(coverage, START + 7 * MINUTE, START + 11 * MINUTE);
            assertThat(coverage.extractOutputValues()).hasSize(1);
            pass(coverage, START + 11 * MINUTE, START + 13 * MINUTE);
            assertThat(coverage.extractOutputValues())
                    .extracting(Alert::getAlertId)
                    .hasSize(2)
                    .doesNotHaveDuplicates();
        }
    }

    @Test
    void downtimeOfTheJobDoesNotCount() throws Exception {
        OperatorSubtaskState state;
        try (var coverage = coverage(FIVE_MINUTES, START)) {
            received(coverage, "db-1", START, START);
            received(coverage, "gone", START, START);
            state = coverage.snapshot(1, START);
        }
        long restarted = START + 3 * 60 * MINUTE;
        try (var coverage = coverage(FIVE_MINUTES, restarted, state)) {
            pass(coverage, restarted, restarted + 2 * MINUTE);
            // The backlog of the downtime.
            received(coverage, "db-1", START + 60 * MINUTE, restarted + 2 * MINUTE);
            pass(coverage, restarted + 2 * MINUTE, restarted + 4 * MINUTE, "db-1");
            assertThat(coverage.extractOutputValues()).isEmpty();
            pass(coverage, restarted + 4 * MINUTE, restarted + 30 * MINUTE, "db-1");
            assertThat(coverage.extractOutputValues())
                    .extracting(Alert::getInstance)
                    .containsExactly("gone");
        }
    }

    @Test
    void anOldCensusThatComesAgainIsNoSignOfLife() throws Exception {
        try (var coverage = coverage(FIVE_MINUTES, START)) {
            received(coverage, "db-1", START, START);
            pass(coverage, START, START + 4 * MINUTE);
            received(coverage, "db-1", START, START + 4 * MINUTE);
            pass(coverage, START + 4 * MINUTE, START + 6 * MINUTE);
            assertThat(coverage.extractOutputValues()).hasSize(1);
        }
    }

    @Test
    void aClockThatIsAheadHidesNoTimeout() throws Exception {
        try (var coverage = coverage(FIVE_MINUTES, START)) {
            received(coverage, "db-1", START + DAY, START);
            pass(coverage, START, START + 6 * MINUTE);
            assertThat(coverage.extractOutputValues()).hasSize(1);
        }
    }

    @Test
    void aPushMayShortenTheTimeAndExceptServers() throws Exception {
        try (var coverage = coverage("census_timeout: {timeout: 1d}", START)) {
            received(coverage, "db-1", START, START);
            received(coverage, "test-1", START, START);
            pass(coverage, START, START + 6 * MINUTE);
            assertThat(coverage.extractOutputValues()).isEmpty();
            coverage.processElement2(
                    rules(2, "census_timeout: {timeout: 1m, level: low, exceptions: {instance|startswith: test}}"), 0);
            pass(coverage, START + 6 * MINUTE, START + 7 * MINUTE);
            assertThat(coverage.extractOutputValues()).singleElement().satisfies(alert -> {
                assertThat(alert.getInstance()).isEqualTo("db-1");
                assertThat(alert.getLevel()).isEqualTo("low");
            });
        }
    }

    @Test
    void anInstanceWithoutACensusIsForgottenAfterTtl() throws Exception {
        try (var coverage = coverage("census_timeout: {timeout: 5m, ttl: 3h}", START)) {
            received(coverage, "db-1", START, START);
            pass(coverage, START, START + 2 * 60 * MINUTE);
            assertThat(coverage.numKeyedStateEntries()).isPositive();
            pass(coverage, START + 2 * 60 * MINUTE, START + 4 * 60 * MINUTE);
            assertThat(coverage.numKeyedStateEntries()).isZero();
            assertThat(coverage.numProcessingTimeTimers()).isZero();
            assertThat(coverage.extractOutputValues()).hasSize(1);
        }
    }

    private static void received(
            KeyedTwoInputStreamOperatorTestHarness<String, CensusHeartbeat, RuleRecord, Alert> coverage,
            String instance,
            long at,
            long now)
            throws Exception {
        coverage.setProcessingTime(now);
        coverage.processElement1(new CensusHeartbeat(instance, "shop", at * 1000), 0);
    }

    /** Advances the time, with a census of some instances twice a minute. */
    private static void pass(
            KeyedTwoInputStreamOperatorTestHarness<String, CensusHeartbeat, RuleRecord, Alert> coverage,
            long from,
            long to,
            String... alive)
            throws Exception {
        for (long now : LongStream.iterate(from, time -> time <= to, time -> time + MINUTE / 2)
                .toArray()) {
            coverage.setProcessingTime(now);
            for (String instance : alive) {
                received(coverage, instance, now, now);
            }
        }
    }

    private static RuleRecord rules(long offset, String detectors) throws Exception {
        return new RuleRecord(
                offset, RuleRecord.BUNDLE, Pushes.json("p" + offset, Map.of("detectors.yaml", detectors)));
    }

    private static KeyedTwoInputStreamOperatorTestHarness<String, CensusHeartbeat, RuleRecord, Alert> coverage(
            String detectors, long startedAt, OperatorSubtaskState... restored) throws Exception {
        var operator = new CoBroadcastWithKeyedOperator<>(
                new CensusTimeoutFunction(new RuleBroadcastState(rules(1, detectors), 0), () -> startedAt),
                List.of(RuleBroadcastState.STATE));
        var coverage =
                new KeyedTwoInputStreamOperatorTestHarness<>(operator, CensusHeartbeat::instance, null, Types.STRING);
        coverage.setProcessingTime(startedAt);
        for (OperatorSubtaskState state : restored) {
            coverage.initializeState(state);
        }
        coverage.open();
        return coverage;
    }
}
