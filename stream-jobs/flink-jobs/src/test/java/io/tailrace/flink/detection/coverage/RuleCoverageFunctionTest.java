package io.tailrace.flink.detection.coverage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.tailrace.detect.RuleRecord;
import io.tailrace.detection.coverage.ObservedFields;
import io.tailrace.detection.coverage.RuleCoverageEvaluator;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.event.Alert;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.RuleCoverageEntry;
import io.tailrace.flink.detection.Logins;
import io.tailrace.flink.detection.Pushes;
import io.tailrace.flink.detection.events.EventDecoder;
import io.tailrace.flink.detection.events.EventRecord;
import io.tailrace.flink.detection.matching.RuleMatchFunction;
import io.tailrace.flink.detection.rules.CompiledBundle;
import io.tailrace.flink.detection.rules.RuleBroadcastState;
import io.tailrace.flink.kafka.SingleObjectEncoder;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.co.CoBroadcastWithKeyedOperator;
import org.apache.flink.streaming.util.KeyedTwoInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;

class RuleCoverageFunctionTest {

    private static final int MANY_LOGS = 20_000;
    private static final Instant START = Instant.parse("2026-11-21T08:00:00Z");
    private static final long PERIOD = RuleCoverageFunction.PERIOD.toMillis();
    private static final long SETTLING = RuleCoverageFunction.SETTLING.toMillis();
    private static final long PACE = RuleCoverageFunction.PACE.toMillis();
    private static final String AUDIT = "audit";
    private static final String ALL = "";

    private static final String SELECT =
            """
            title: Orders read
            id: 55555555-5555-4555-8555-555555555555
            level: low
            tags: [attack.collection]
            logsource:
              category: database
            detection:
              selection:
                event_class: query
                table: shop.orders
              condition: selection
            """;

    private final SingleObjectEncoder<AuditEvent> encoder = new SingleObjectEncoder<>(AuditEvent.class);
    private final EventDecoder reader = new EventDecoder();
    private long now = START.toEpochMilli();

    @Test
    void sightingsAreSerializedWithoutKryo() {
        assertThat(TypeInformation.of(LogContentsUpdate.class)).isInstanceOf(PojoTypeInfo.class);
    }

    @Test
    void anInstanceHasTheAnswersThatItsEventsGive() throws Exception {
        List<AuditEvent> events = List.of(
                Logins.refused("db-1", "ann", 1, START),
                Logins.refused("db-1", "ben", 2, START),
                Logins.statement("db-1", 3, START, "orders"));
        try (var coverage = coverage(rules(1))) {
            see(coverage, events);
            assertThat(coverage.extractOutputValues()).as("before it settles").isEmpty();
            pass(coverage, SETTLING);
            List<RuleCoverageEntry> entries = coverage.extractOutputValues();
            assertThat(reasons(entries, AUDIT)).isEqualTo(asked(events)).hasSize(4);
            assertThat(reasons(entries, ALL)).isEqualTo(asked(events));
            assertThat(entries).hasSize(8).allSatisfy(entry -> {
                assertThat(entry.getCluster()).isEqualTo("shop");
                assertThat(entry.getInstance()).isEqualTo("db-1");
                assertThat(entry.getInForce()).isTrue();
                assertThat(entry.getToldAt()).isEqualTo(entry.getChangedAt()).isEqualTo(time(now));
            });
        }
    }

    @Test
    void onlyAnswersThatChangeAreWritten() throws Exception {
        try (var coverage = coverage(rules(1))) {
            see(coverage, List.of(Logins.refused("db-1", "ann", 1, START)));
            pass(coverage, SETTLING);
            assertThat(coverage.extractOutputValues()).hasSize(8);
            see(coverage, List.of(Logins.refused("db-1", "eve", 2, START)));
            pass(coverage, SETTLING);
            assertThat(coverage.extractOutputValues()).hasSize(8);
            see(coverage, List.of(Logins.statement("db-1", 3, START, "orders")));
            pass(coverage, SETTLING);
            List<RuleCoverageEntry> entries = coverage.extractOutputValues();
            assertThat(entries.subList(8, entries.size()))
                    .extracting(RuleCoverageEntry::getRuleTitle, RuleCoverageEntry::getCanFire)
                    .containsExactlyInAnyOrder(tuple("Orders read", true), tuple("Orders read", true));
        }
    }

    @Test
    void aPushIsAnsweredForEveryInstance() throws Exception {
        try (var coverage = coverage(rules(1))) {
            see(coverage, List.of(Logins.refused("db-1", "ann", 1, START)));
            see(coverage, List.of(Logins.refused("db-2", "ann", 1, START)));
            pass(coverage, SETTLING);
            pass(coverage, PACE);
            int before = coverage.extractOutputValues().size();
            now += 1000;
            coverage.setProcessingTime(now);
            coverage.processElement2(
                    new RuleRecord(2, RuleRecord.BUNDLE, Pushes.json("p2", Map.of("a.yml", SELECT))), 0);
            List<RuleCoverageEntry> entries = coverage.extractOutputValues();
            List<RuleCoverageEntry> pushed = entries.subList(before, entries.size());
            assertThat(pushed).hasSize(2 * 2 * 3).noneMatch(RuleCoverageEntry::getInForce);
            coverage.processElement2(rules(3), 0);
            entries = coverage.extractOutputValues();
            assertThat(entries.subList(before + 12, entries.size()))
                    .hasSize(12)
                    .allMatch(RuleCoverageEntry::getInForce)
                    .allMatch(entry -> entry.getToldAt().isAfter(time(now)));
        }
    }

    /** Otherwise alerts wait for the rows of all of them. */
    @Test
    void newInstancesTakeTurnsAlsoAfterARestore() throws Exception {
        OperatorSubtaskState waiting;
        try (var coverage = coverage(rules(1))) {
            for (String instance : List.of("db-1", "db-2", "db-3", "db-4")) {
                see(coverage, List.of(Logins.refused(instance, "ann", 1, START)));
            }
            pass(coverage, SETTLING);
            assertThat(instances(coverage.extractOutputValues())).hasSize(1);
            waiting = coverage.snapshot(1, now);
            for (int turn = 2; turn <= 4; turn++) {
                pass(coverage, PACE);
                assertThat(instances(coverage.extractOutputValues())).hasSize(turn);
            }
            assertThat(coverage.extractOutputValues()).hasSize(4 * 8);
        }
        now += 10 * PACE;
        try (var coverage = coverage(rules(1), waiting)) {
            pass(coverage, 0);
            assertThat(instances(coverage.extractOutputValues())).hasSize(1);
            pass(coverage, PACE);
            pass(coverage, PACE);
            assertThat(instances(coverage.extractOutputValues())).hasSize(3);
            pass(coverage, PERIOD);
            pass(coverage, 4 * PACE);
            assertThat(coverage.extractOutputValues()).hasSize(3 * 8 + 4 * 8);
        }
    }

    private static Set<String> instances(List<RuleCoverageEntry> entries) {
        return entries.stream().map(RuleCoverageEntry::getInstance).collect(Collectors.toSet());
    }

    @Test
    void afterARestoreNoResultIsWrittenAgain() throws Exception {
        OperatorSubtaskState settled;
        OperatorSubtaskState unsettled;
        try (var coverage = coverage(rules(1))) {
            see(coverage, List.of(Logins.refused("db-1", "ann", 1, START)));
            unsettled = coverage.snapshot(1, now);
            pass(coverage, SETTLING);
            settled = coverage.snapshot(2, now);
        }
        try (var coverage = coverage(rules(1), settled)) {
            see(coverage, List.of(Logins.refused("db-1", "ann", 1, START)));
            coverage.processElement2(rules(1), 0);
            pass(coverage, SETTLING);
            assertThat(coverage.extractOutputValues()).isEmpty();
        }
        try (var coverage = coverage(rules(1), unsettled)) {
            pass(coverage, SETTLING);
            assertThat(coverage.extractOutputValues()).hasSize(8);
        }
    }

    /** As after an upgrade, or a push while the job was stopped: no log has a new field. */
    @Test
    void afterAStartResultsAreComputedAgainWithTheFirstEvents() throws Exception {
        OperatorSubtaskState settled;
        try (var coverage = coverage(rules(1))) {
            see(coverage, List.of(Logins.refused("db-1", "ann", 1, START)));
            pass(coverage, SETTLING);
            settled = coverage.snapshot(1, now);
        }
        RuleRecord other = new RuleRecord(2, RuleRecord.BUNDLE, Pushes.json("p2", Map.of("a.yml", SELECT)));
        try (var coverage = coverage(other, settled)) {
            see(coverage, List.of(Logins.refused("db-1", "ann", 2, START)));
            see(coverage, List.of(Logins.refused("db-1", "ann", 3, START)));
            pass(coverage, SETTLING);
            assertThat(coverage.extractOutputValues()).hasSize(2 * 3).noneMatch(RuleCoverageEntry::getInForce);
        }
    }

    @Test
    void entriesAreReportedAgainEachPeriodAndEndWithTheirLog() throws Exception {
        try (var coverage = coverage(rules(1))) {
            see(coverage, List.of(Logins.refused("db-1", "ann", 1, START)));
            pass(coverage, SETTLING);
            Instant first = time(now);
            pass(coverage, PERIOD);
            List<RuleCoverageEntry> again = coverage.extractOutputValues().subList(8, 16);
            assertThat(again).extracting(RuleCoverageEntry::getChangedAt).containsOnly(first);
            assertThat(again)
                    .extracting(RuleCoverageEntry::getToldAt)
                    .allMatch(reported -> !reported.isBefore(START.plus(RuleCoverageFunction.PERIOD)));
            pass(coverage, PERIOD);
            assertThat(coverage.extractOutputValues().subList(16, 24))
                    .noneMatch(RuleCoverageEntry::getInForce)
                    .noneMatch(RuleCoverageEntry::getCanFire);
            assertThat(coverage.extractOutputValues()).hasSize(24);
            assertThat(coverage.numKeyedStateEntries()).isZero();
            assertThat(coverage.numProcessingTimeTimers()).isZero();
        }
    }

    @Test
    void anEventWithoutNewFieldsIsNoUpdate() throws Exception {
        LogContentsCache seen = new LogContentsCache();
        DetectionEvent login = event(Logins.refused("db-1", "ann", 1, START));
        DetectionEvent statement = event(Logins.statement("db-1", 2, START, "orders"));
        assertThat(seen.isNew(login, "db-1", now)).isTrue();
        assertThat(seen.isNew(statement, "db-1", now)).isTrue();
        assertThat(seen.isNew(login, "db-1", now)).isFalse();
        assertThat(seen.isNew(event(Logins.refused("db-1", "eve", 3, START)), "db-1", now))
                .isFalse();
        assertThat(seen.isNew(login, "db-2", now)).isTrue();
        long tomorrow = now + Duration.ofDays(1).toMillis() + 1;
        assertThat(seen.isNew(login, "db-1", tomorrow)).isTrue();
        assertThat(seen.isNew(login, "db-1", tomorrow)).isFalse();
    }

    /** As of 10,000 servers with an audit and a slow log: otherwise each of their events would be an update. */
    @Test
    void anEventOfOneOfManyLogsWithoutNewFieldsIsNoUpdate() throws Exception {
        LogContentsCache seen = new LogContentsCache();
        DetectionEvent login = event(Logins.refused("db-1", "ann", 1, START));
        int updates = 0;
        for (int i = 0; i < 3 * MANY_LOGS; i++) {
            updates += seen.isNew(login, "db-" + i % MANY_LOGS, now) ? 1 : 0;
        }
        assertThat(updates).isEqualTo(MANY_LOGS);
    }

    @Test
    void ofMoreLogsThanMemoryIsGivenAllAreNewAgain() throws Exception {
        LogContentsCache seen = new LogContentsCache();
        DetectionEvent login = event(Logins.refused("db-1", "ann", 1, START));
        for (int i = 0; i < LogContentsCache.MAX_LOGS; i++) {
            assertThat(seen.isNew(login, "db-" + i, now)).isTrue();
        }
        assertThat(seen.isNew(login, "db-0", now)).isTrue();
        assertThat(seen.isNew(login, "db-0", now)).isFalse();
    }

    private DetectionEvent event(AuditEvent event) throws Exception {
        return reader.event(encoder.encode(event));
    }

    /** Returns the reasons by the key of the rule, computed from all events at once; empty if the rule can fire. */
    private Map<String, String> asked(List<AuditEvent> events) throws Exception {
        ObservedFields contents = new ObservedFields();
        LogSource log = LogSource.ANY;
        for (AuditEvent each : events) {
            DetectionEvent event = event(each);
            contents.add(event);
            log = event.source();
        }
        Map<String, String> reasons = new HashMap<>();
        RuleCoverageEvaluator.answers(
                        CompiledBundle.of(rules(1).json()).bundle().rules(), false, Map.of(log, contents))
                .forEach(answer -> reasons.put(
                        answer.rule().key(),
                        answer.obstacle().map(obstacle -> obstacle.reason()).orElse("")));
        return reasons;
    }

    private static Map<String, String> reasons(List<RuleCoverageEntry> entries, String source) {
        return entries.stream()
                .filter(entry -> entry.getSource().equals(source))
                .collect(Collectors.toMap(RuleCoverageEntry::getRuleId, RuleCoverageEntry::getReason));
    }

    private static Instant time(long millis) {
        return Instant.ofEpochMilli(millis).truncatedTo(ChronoUnit.MICROS);
    }

    private static RuleRecord rules(long offset) throws Exception {
        return new RuleRecord(
                offset,
                RuleRecord.BUNDLE,
                Pushes.json(
                        "p" + offset,
                        Map.of(
                                "a.yml", Pushes.REFUSED_LOGIN,
                                "b.yml", Pushes.BRUTE_FORCE,
                                "c.yml", Pushes.TWO_USERS,
                                "d.yml", Pushes.ANY_REFUSED_LOGIN,
                                "e.yml", SELECT)));
    }

    /** Passes the field updates of events from the matching stage to the coverage stage. */
    private void see(
            KeyedTwoInputStreamOperatorTestHarness<String, LogContentsUpdate, RuleRecord, RuleCoverageEntry> coverage,
            List<AuditEvent> events)
            throws Exception {
        for (LogContentsUpdate update : updates(events)) {
            coverage.processElement1(update, 0);
        }
    }

    private List<LogContentsUpdate> updates(List<AuditEvent> events) throws Exception {
        var operator = new CoBroadcastWithKeyedOperator<>(
                new RuleMatchFunction(new RuleBroadcastState(rules(1), 0), Duration.ofMinutes(15)),
                List.of(RuleBroadcastState.STATE));
        try (var match = new KeyedTwoInputStreamOperatorTestHarness<String, EventRecord, RuleRecord, Alert>(
                operator, EventRecord::session, null, Types.STRING)) {
            match.open();
            for (AuditEvent event : events) {
                match.processElement1(reader.place(encoder.encode(event)), 0);
            }
            List<LogContentsUpdate> found = new ArrayList<>();
            match.getSideOutput(RuleMatchFunction.LOG_CONTENTS).forEach(record -> found.add(record.getValue()));
            return found;
        }
    }

    private void pass(
            KeyedTwoInputStreamOperatorTestHarness<String, LogContentsUpdate, RuleRecord, RuleCoverageEntry> coverage,
            long millis)
            throws Exception {
        now += millis;
        coverage.setProcessingTime(now);
    }

    private KeyedTwoInputStreamOperatorTestHarness<String, LogContentsUpdate, RuleRecord, RuleCoverageEntry> coverage(
            RuleRecord push, OperatorSubtaskState... restored) throws Exception {
        var operator = new CoBroadcastWithKeyedOperator<>(
                new RuleCoverageFunction(new RuleBroadcastState(push, 0)), List.of(RuleBroadcastState.STATE));
        var coverage =
                new KeyedTwoInputStreamOperatorTestHarness<>(operator, LogContentsUpdate::instance, null, Types.STRING);
        coverage.setProcessingTime(now);
        for (OperatorSubtaskState state : restored) {
            coverage.initializeState(state);
        }
        coverage.open();
        return coverage;
    }
}
