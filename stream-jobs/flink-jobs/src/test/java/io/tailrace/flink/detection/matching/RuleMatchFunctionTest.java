package io.tailrace.flink.detection.matching;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detect.RuleRecord;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.event.Alert;
import io.tailrace.event.AuditEvent;
import io.tailrace.flink.detection.Logins;
import io.tailrace.flink.detection.Pushes;
import io.tailrace.flink.detection.events.EventDecoder;
import io.tailrace.flink.detection.events.EventRecord;
import io.tailrace.flink.detection.rules.RuleBroadcastState;
import io.tailrace.flink.kafka.SingleObjectEncoder;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.co.CoBroadcastWithKeyedOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.util.KeyedTwoInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;

class RuleMatchFunctionTest {

    private static final Instant START = Instant.parse("2026-11-21T08:00:00Z");
    private static final Duration REMEMBERED = Duration.ofMinutes(15);
    private static final int USERS = 50;
    private static final int MAX_SESSIONS = 100;

    private final SingleObjectEncoder<AuditEvent> encoder = new SingleObjectEncoder<>(AuditEvent.class);
    private final EventDecoder reader = new EventDecoder();

    private EventRecord login(int user) throws Exception {
        return reader.place(encoder.encode(Logins.refused("db-1", "user" + user, user, START)));
    }

    @Test
    void actionsOfIdleSessionsArePackedAndForgottenWithOneTimerEach() throws Exception {
        try (var stage = stage()) {
            for (int user = 0; user < USERS; user++) {
                stage.processElement1(login(user), 0);
                stage.processElement1(login(user), 0);
            }
            assertThat(stage.numEventTimeTimers()).isEqualTo(USERS);
            passTo(stage, Duration.ofMinutes(10));
            assertThat(stage.numKeyedStateEntries()).isEqualTo(USERS);
            assertThat(stage.numEventTimeTimers()).isEqualTo(USERS);
            for (int user = 0; user < USERS; user++) {
                stage.processElement1(login(user), 0);
            }
            assertThat(actions(stage)).hasSize(USERS);
            passTo(stage, Duration.ofMinutes(10));
            assertThat(stage.numEventTimeTimers()).isEqualTo(USERS);
            passTo(stage, REMEMBERED.plusMinutes(5));
            assertThat(stage.numKeyedStateEntries()).isZero();
            assertThat(stage.numEventTimeTimers()).isZero();
        }
    }

    @Test
    void beyondTheMaximumIdleSessionsAreForgottenEarly() throws Exception {
        try (var stage = stage()) {
            for (int user = 0; user < MAX_SESSIONS + USERS; user++) {
                stage.processElement1(login(user), 0);
            }
            passTo(stage, Duration.ofMinutes(1));
            assertThat(stage.numKeyedStateEntries()).isEqualTo(MAX_SESSIONS);
            passTo(stage, REMEMBERED.plusMinutes(5));
            assertThat(stage.numKeyedStateEntries()).isZero();
        }
    }

    @Test
    void sessionsOfBeforeARestoreAreNotCounted() throws Exception {
        OperatorSubtaskState state;
        try (var stage = stage()) {
            for (int user = 0; user < USERS; user++) {
                stage.processElement1(login(user), 0);
            }
            passTo(stage, Duration.ofMinutes(1));
            state = stage.snapshot(1, 0);
        }
        try (var stage = unopened()) {
            stage.initializeState(state);
            stage.open();
            passTo(stage, REMEMBERED.plusMinutes(5));
            assertThat(stage.numKeyedStateEntries()).isZero();
            for (int user = 0; user < MAX_SESSIONS + 2 * USERS; user++) {
                stage.processElement1(login(user), 0);
            }
            passTo(stage, REMEMBERED.plusMinutes(6));
            assertThat(stage.numKeyedStateEntries()).isLessThanOrEqualTo(MAX_SESSIONS);
        }
    }

    @Test
    void aPackedSessionIsStillKnownAfterARestore() throws Exception {
        OperatorSubtaskState state;
        Set<String> before;
        try (var stage = stage()) {
            stage.processElement1(login(1), 0);
            passTo(stage, Duration.ofMinutes(5));
            before = actions(stage);
            state = stage.snapshot(1, 0);
        }
        try (var stage = unopened()) {
            stage.initializeState(state);
            stage.open();
            stage.processElement1(login(1), 0);
            assertThat(actions(stage)).isEqualTo(before).hasSize(1);
            passTo(stage, REMEMBERED.plusMinutes(5));
            assertThat(stage.numKeyedStateEntries()).isZero();
        }
    }

    @Test
    void anExceptionSuppressesAlertsAndEvidence() throws Exception {
        String exception =
                """
                title: %2$s
                exception:
                  rule: %1$s
                  selection: {user: %3$s}
                  reason: ticket 1
                  owner: dba
                  expires: 2026-11-22
                """;
        Map<String, String> files = Map.of(
                "a.yml",
                Pushes.REFUSED_LOGIN,
                "b.yml",
                Pushes.BRUTE_FORCE,
                "e.yml",
                exception.formatted("brute_force", "Known", "user1"),
                "f.yml",
                exception.formatted("refused_login", "Refused", "user2"));
        try (var stage = unopened(Pushes.json("p", files))) {
            stage.open();
            for (int user = 1; user <= 3; user++) {
                stage.processElement1(login(user), 0);
            }
            assertThat(stage.getSideOutput(RuleMatchFunction.EVIDENCE))
                    .singleElement()
                    .satisfies(
                            evidence -> assertThat(evidence.getValue().group()).containsExactly("user3"));
        }
    }

    /** Rules that learn have a lower level in the first days of an instance, whatever happened to the job since. */
    @Test
    void theBeginningOfAnInstanceIsStored() throws Exception {
        OperatorSubtaskState state;
        try (var stage = unopened(learning())) {
            stage.open();
            stage.processElement1(login(1), 0);
            state = stage.snapshot(1, 0);
            assertThat(histories(stage)).containsExactly("0");
        }
        try (var stage = unopened(learning())) {
            stage.initializeState(state);
            stage.open();
            Instant later = START.plus(Duration.ofDays(3));
            for (String instance : List.of("db-1", "db-2")) {
                AuditEvent login = Logins.refused(instance, "user2", 2, later);
                stage.processElement1(reader.place(encoder.encode(login)), 0);
            }
            assertThat(histories(stage)).containsExactly("3", "0");
        }
    }

    /** After an upgrade it is unknown since when an instance is read, and a level must not become lower. */
    @Test
    void anInstanceIsOldIfTheRestoredStateHasNoBeginnings() throws Exception {
        OperatorSubtaskState withoutBeginnings;
        try (var stage = unopened(learning())) {
            stage.open();
            withoutBeginnings = stage.snapshot(1, 0);
        }
        try (var stage = unopened(learning())) {
            stage.initializeState(withoutBeginnings);
            stage.open();
            stage.processElement1(login(1), 0);
            assertThat(histories(stage)).containsExactly("none");
        }
    }

    private static String learning() throws Exception {
        String first = Pushes.BRUTE_FORCE.replace("gte: 10", "gte: 1\n  learning: 14d");
        return Pushes.json("p", Map.of("a.yml", Pushes.REFUSED_LOGIN, "b.yml", first));
    }

    private static List<String> histories(
            KeyedTwoInputStreamOperatorTestHarness<String, EventRecord, RuleRecord, Alert> stage) {
        return stage.getSideOutput(RuleMatchFunction.EVIDENCE).stream()
                .map(evidence -> evidence.getValue().about().getOrDefault(DetectionEvent.HISTORY, "none"))
                .toList();
    }

    /** server_audit writes the rows that a statement reads before the statement. */
    @Test
    void evidenceNamesTheStatementAndLeavesItsRowsWithoutAName() throws Exception {
        String reads = Pushes.REFUSED_LOGIN.replace("outcome: failure", "table: shop.cards");
        Map<String, String> files = Map.of(
                "a.yml",
                reads.replace("event_class: connection", "event_class: [table, query]"),
                "b.yml",
                Pushes.BRUTE_FORCE);
        AuditEvent row = Logins.statement("db-1", 1, START, "shop.cards");
        row.setEventClass("table");
        row.setCommand("READ");
        AuditEvent statement = Logins.statement("db-1", 2, START, "shop.cards");
        statement.setConnectionId(row.getConnectionId());
        try (var stage = unopened(Pushes.json("p", files))) {
            stage.open();
            for (AuditEvent event : List.of(row, statement)) {
                stage.processElement1(reader.place(encoder.encode(event)), 0);
            }
            assertThat(actions(stage)).hasSize(1);
            assertThat(stage.getSideOutput(RuleMatchFunction.EVIDENCE))
                    .extracting(evidence -> evidence.getValue().eventId())
                    .containsExactly("", new UUID("db-1".hashCode(), 2).toString());
        }
    }

    private static void passTo(
            KeyedTwoInputStreamOperatorTestHarness<String, EventRecord, RuleRecord, Alert> stage, Duration later)
            throws Exception {
        for (long second = 0; second <= later.toSeconds(); second += 5) {
            stage.processBothWatermarks(new Watermark(START.plusSeconds(second).toEpochMilli()));
        }
    }

    private static Set<String> actions(
            KeyedTwoInputStreamOperatorTestHarness<String, EventRecord, RuleRecord, Alert> stage) {
        return stage.getSideOutput(RuleMatchFunction.EVIDENCE).stream()
                .map(evidence -> evidence.getValue().actionId())
                .collect(Collectors.toSet());
    }

    private static KeyedTwoInputStreamOperatorTestHarness<String, EventRecord, RuleRecord, Alert> stage()
            throws Exception {
        var stage = unopened();
        stage.open();
        return stage;
    }

    private static KeyedTwoInputStreamOperatorTestHarness<String, EventRecord, RuleRecord, Alert> unopened()
            throws Exception {
        return unopened(Pushes.bruteForce("p"));
    }

    private static KeyedTwoInputStreamOperatorTestHarness<String, EventRecord, RuleRecord, Alert> unopened(String rules)
            throws Exception {
        RuleRecord push = new RuleRecord(7, RuleRecord.BUNDLE, rules);
        var operator = new CoBroadcastWithKeyedOperator<>(
                new RuleMatchFunction(new RuleBroadcastState(push, 0), REMEMBERED, MAX_SESSIONS),
                List.of(RuleBroadcastState.STATE));
        return new KeyedTwoInputStreamOperatorTestHarness<>(operator, EventRecord::session, null, Types.STRING);
    }
}
