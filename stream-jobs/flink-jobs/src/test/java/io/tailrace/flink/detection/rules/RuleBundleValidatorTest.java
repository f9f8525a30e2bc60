package io.tailrace.flink.detection.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detect.RuleRecord;
import io.tailrace.event.RulePush;
import io.tailrace.flink.detection.Pushes;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.ProcessOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;

class RuleBundleValidatorTest {

    private static final Map<String, String> BAD = Map.of("a.yml", "title: no rule at all");

    /** Compaction retains the last valid push, which became the bundle, and a rejected candidate. */
    @Test
    void aJobWithoutStateStartsWithTheLastGoodPushAfterARefusedOne() throws Exception {
        RuleRecord good = new RuleRecord(4, RuleRecord.BUNDLE, Pushes.bruteForce("good"));
        RuleRecord bad = new RuleRecord(7, RuleRecord.CANDIDATE, Pushes.json("bad", BAD));
        InitialRules newest = InitialRules.of(List.of(good, bad));
        assertThat(newest.bundle()).isEqualTo(good);
        assertThat(newest.hasBundle()).isTrue();
        assertThat(InitialRules.of(List.of(bad)).hasBundle()).isFalse();
    }

    @Test
    void aCandidateThatIsNewerThanTheBundleIsTakenWhereItIsGood() throws Exception {
        RuleRecord old = new RuleRecord(4, RuleRecord.BUNDLE, Pushes.bruteForce("old"));
        RuleRecord candidate = new RuleRecord(7, RuleRecord.CANDIDATE, Pushes.bruteForce("new"));
        RuleRecord ended = new RuleRecord(9, RuleRecord.CANDIDATE, "");
        assertThat(InitialRules.of(List.of(old, candidate)).bundle()).isEqualTo(candidate);
        assertThat(InitialRules.of(List.of(old, ended)).bundle()).isEqualTo(old);
    }

    @Test
    void aCandidateThatBecomesTheBundleIsOnePush() throws Exception {
        OperatorSubtaskState state;
        try (var gate = gate(InitialRules.NONE, null)) {
            assertThat(inForce(gate)).isZero();
            gate.processElement(new RuleRecord(1, RuleRecord.CANDIDATE, Pushes.json("bad", BAD)), 0);
            assertThat(inForce(gate)).isZero();
            gate.processElement(new RuleRecord(2, RuleRecord.CANDIDATE, Pushes.bruteForce("good")), 0);
            assertThat(inForce(gate)).isEqualTo(1);
            state = gate.snapshot(1, 1);
        }
        try (var gate = gate(InitialRules.NONE, state)) {
            assertThat(inForce(gate)).isEqualTo(1);
            gate.processElement(new RuleRecord(3, RuleRecord.BUNDLE, Pushes.bruteForce("good")), 0);
            gate.processElement(new RuleRecord(4, RuleRecord.CANDIDATE, ""), 0);
            assertThat(gate.extractOutputValues()).isEmpty();
            gate.processElement(new RuleRecord(5, RuleRecord.CANDIDATE, Pushes.bruteForce("better")), 0);
            assertThat(gate.extractOutputValues()).hasSize(1);
            assertThat(gate.getSideOutput(RuleBundleValidator.PUSHES))
                    .extracting(StreamRecord::getValue)
                    .extracting(RulePush::getPushId)
                    .containsExactly("better");
        }
    }

    @Test
    void expiredExceptionsAreCounted() throws Exception {
        String exception =
                """
                title: Known
                exception:
                  rule: 44444444-4444-4444-8444-111111111111
                  selection: {user: etl}
                  reason: ticket 1
                  owner: dba
                  expires: 2027-01-01
                """;
        String push = Pushes.json("p", Map.of("d.yml", Pushes.ANY_REFUSED_LOGIN, "exceptions/e.yml", exception));
        RuleRecord bundle = new RuleRecord(1, RuleRecord.BUNDLE, push);
        for (String now : List.of("2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z")) {
            Clock clock = Clock.fixed(Instant.parse(now), ZoneOffset.UTC);
            InitialRules topic = InitialRules.of(List.of(bundle));
            RuleBundleValidator restarted = new RuleBundleValidator(topic, clock);
            try (var gate = new OneInputStreamOperatorTestHarness<>(new ProcessOperator<>(restarted))) {
                gate.open();
                assertThat(restarted.expiredExceptions()).isEqualTo(now.startsWith("2027") ? 1 : 0);
                gate.processElement(new RuleRecord(2, RuleRecord.BUNDLE, Pushes.bruteForce("without")), 0);
                assertThat(restarted.expiredExceptions()).isZero();
                gate.processElement(new RuleRecord(3, RuleRecord.BUNDLE, push), 0);
                assertThat(restarted.expiredExceptions()).isEqualTo(now.startsWith("2027") ? 1 : 0);
            }
        }
    }

    private static long inForce(OneInputStreamOperatorTestHarness<RuleRecord, RuleRecord> gate) {
        return (Long) gate.getEnvironment()
                .getAccumulatorRegistry()
                .getUserMap()
                .get(RuleBundleValidator.RULES_ACTIVE)
                .getLocalValue();
    }

    /** @param state null: without state */
    private static OneInputStreamOperatorTestHarness<RuleRecord, RuleRecord> gate(
            InitialRules newest, OperatorSubtaskState state) throws Exception {
        var gate = new OneInputStreamOperatorTestHarness<>(new ProcessOperator<>(new RuleBundleValidator(newest)));
        if (state != null) {
            gate.initializeState(state);
        }
        gate.open();
        return gate;
    }
}
