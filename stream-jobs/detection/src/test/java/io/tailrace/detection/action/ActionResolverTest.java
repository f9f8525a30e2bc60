package io.tailrace.detection.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.event.ActionReference;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.testing.GrowthRate;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class ActionResolverTest {

    private static final String SELECT = "00000000000000AA";
    private static final String UPDATE = "00000000000000BB";

    private int number;

    private DetectionEvent event(String service, double second, Consumer<DetectionEvent.Builder> fields) {
        DetectionEvent.Builder event = DetectionEvent.builder(
                "e" + number++, Math.round(second * 1e6), new LogSource("database", "mysql", service));
        event.text("instance", "db1").number("connection_id", 7);
        fields.accept(event);
        return event.build();
    }

    private DetectionEvent statement(String service, double second, String queryId) {
        return event(service, second, fields -> fields.text("event_class", "query")
                .text("query_id", queryId)
                .text("verb", "SELECT")
                .text("table", "shop.orders")
                .number("query_time", 0.01));
    }

    private DetectionEvent slow(double second, double took) {
        return event("slowlog", second, fields -> fields.text("event_class", "query")
                .text("query_id", SELECT)
                .text("verb", "SELECT")
                .text("table", "shop.orders")
                .number("query_time", took));
    }

    private DetectionEvent audited(double second, String queryId, long serverQuery) {
        return event("audit", second, fields -> fields.text("event_class", "query")
                .text("query_id", queryId)
                .text("verb", "SELECT")
                .text("table", "shop.orders")
                .number("server_query_id", serverQuery));
    }

    private DetectionEvent row(double second, long serverQuery) {
        return event("audit", second, fields -> fields.text("event_class", "table")
                .text("command", "READ")
                .text("table", "shop.orders")
                .number("server_query_id", serverQuery));
    }

    private static int count(List<DetectionEvent> events) {
        ActionResolver actions = new ActionResolver(ActionResolver.MAX_ACTIONS);
        Set<String> ids = new HashSet<>();
        events.forEach(event -> ids.add(actions.of(event).id()));
        return ids.size();
    }

    @Test
    void oneStatementInThreeLogsIsOneAction() {
        List<DetectionEvent> events = List.of(
                statement("slowlog", 10.2, SELECT),
                statement("audit", 10, SELECT),
                statement("general", 10.19, SELECT));
        assertThat(count(events)).isEqualTo(1);
    }

    @Test
    void equalStatementsOfOneLogAreActionsOfTheirOwnInWhateverOrder() {
        List<DetectionEvent> events = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            events.add(statement("slowlog", 10 + i * 0.11, SELECT));
            events.add(statement("audit", Math.floor(10 + i * 0.11), SELECT));
        }
        assertThat(count(events)).isEqualTo(50);
        events.sort((a, b) -> a.source().service().compareTo(b.source().service()));
        assertThat(count(events)).as("one log after the other").isEqualTo(50);
        Collections.rotate(events, 50);
        assertThat(count(events)).as("the other log first").isEqualTo(50);
    }

    @Test
    void anyOrderOfManySessionsGivesAtMostAFewActionsTooMany() {
        Random random = new Random(7);
        List<DetectionEvent> events = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            double second = 10 + i * 0.05;
            events.add(statement("slowlog", second, i % 3 == 0 ? UPDATE : SELECT));
            events.add(statement("audit", Math.floor(second), i % 3 == 0 ? UPDATE : SELECT));
        }
        Collections.shuffle(events, random);
        assertThat(count(events)).isBetween(200, 230);
    }

    @Test
    void aSlowStatementIsFoundByEitherEnd() {
        assertThat(count(List.of(slow(100, 60), statement("audit", 40, SELECT))))
                .isEqualTo(1);
        assertThat(count(List.of(statement("audit", 40, SELECT), slow(100, 60))))
                .isEqualTo(1);
        assertThat(count(List.of(slow(40, 60), statement("audit", 100, SELECT))))
                .isEqualTo(1);
        assertThat(count(List.of(slow(100, 5), statement("audit", 40, SELECT)))).isEqualTo(2);
    }

    @Test
    void beginAndEndOfALongStatementAreOne() {
        assertThat(count(List.of(statement("general", 40, SELECT), audited(100, SELECT, 0))))
                .isEqualTo(1);
        assertThat(count(List.of(audited(100, SELECT, 0), statement("general", 40, SELECT))))
                .isEqualTo(1);
        List<DetectionEvent> another =
                List.of(statement("general", 40, SELECT), statement("general", 60, UPDATE), audited(100, SELECT, 0));
        assertThat(count(another))
                .as("the session did something else meanwhile")
                .isEqualTo(3);
    }

    @Test
    void aConnectionIdThatIsUsedAgainIsTheNextSession() {
        assertThat(count(List.of(statement("slowlog", 10, SELECT), statement("audit", 9_000, SELECT))))
                .isEqualTo(2);
    }

    @Test
    void rowsOfTablesBelongToTheirStatement() {
        List<DetectionEvent> audit = List.of(row(10, 1), row(10, 1), audited(10, SELECT, 1));
        assertThat(count(audit)).isEqualTo(1);
        List<DetectionEvent> slowFirst = new ArrayList<>(audit);
        slowFirst.add(0, statement("slowlog", 10.5, SELECT));
        assertThat(count(slowFirst)).isEqualTo(1);
        List<DetectionEvent> slowLast = new ArrayList<>(audit);
        slowLast.add(statement("slowlog", 10.5, SELECT));
        assertThat(count(slowLast)).isEqualTo(1);
        assertThat(count(List.of(audit.get(0), slowLast.get(3), audit.get(2)))).isEqualTo(1);
    }

    @Test
    void equalStatementsWithRowsAreTwo() {
        List<DetectionEvent> audit = List.of(
                statement("slowlog", 10.2, SELECT),
                statement("slowlog", 10.4, SELECT),
                row(10, 1),
                audited(10, SELECT, 1),
                row(10, 2),
                audited(10, SELECT, 2));
        assertThat(count(audit)).isEqualTo(2);
    }

    @Test
    void eventsOfAFilterLogAreOfOneStatement() {
        List<DetectionEvent> events = new ArrayList<>();
        for (String name : List.of("command_start", "query_start", "log", "query_status_end", "status", "result")) {
            events.add(event("audit", 10, fields -> fields.text("event_class", "query")
                    .text("event_name", name)
                    .text("verb", "SELECT")
                    .text("query_id", SELECT)));
        }
        assertThat(count(events)).isEqualTo(1);
    }

    @Test
    void aStatementThatALogCutIsKnownByItsVerb() {
        DetectionEvent cut = event("audit", 10, fields -> fields.text("event_class", "query")
                .text("query_id", UPDATE)
                .text("verb", "SELECT")
                .text("flag", "truncated"));
        assertThat(count(List.of(cut, statement("slowlog", 10, SELECT)))).isEqualTo(1);
        assertThat(count(List.of(statement("slowlog", 10, SELECT), cut, statement("general", 10, SELECT))))
                .isEqualTo(1);
    }

    private DetectionEvent refused(String service, double second, Consumer<DetectionEvent.Builder> fields) {
        return event(
                service,
                second,
                builder -> fields.accept(builder.text("event_class", "connection")
                        .text("command", service.equals("audit") ? "FAILED_CONNECT" : "Connect")
                        .text("outcome", "failure")
                        .text("kind", "access_denied")
                        .text("user", "Bob")));
    }

    @Test
    void refusedLoginsAreFoundWithoutTheirConnection() {
        DetectionEvent audit = refused("audit", 10, fields -> fields.text("src_ip", "10.0.0.7"));
        DetectionEvent error = refused("errorlog", 10.4, fields -> fields.number("connection_id", 7)
                .text("host", "10.0.0.7")
                .text("src_ip", "10.0.0.7"));
        DetectionEvent elsewhere = refused("errorlog", 10.4, fields -> fields.text("src_ip", "10.0.0.8"));
        DetectionEvent later = refused("general", 15, fields -> fields.text("src_ip", "10.0.0.7"));
        assertThat(count(List.of(audit, error))).isEqualTo(1);
        assertThat(count(List.of(audit, elsewhere))).isEqualTo(2);
        assertThat(count(List.of(audit, later))).isEqualTo(2);
    }

    @Test
    void aPreparedStatementIsNotItsExecution() {
        DetectionEvent prepare = event("general", 10, fields -> fields.text("event_class", "query")
                .text("command", "Prepare")
                .text("query_id", SELECT));
        DetectionEvent execute = event("general", 10, fields -> fields.text("event_class", "query")
                .text("command", "Execute")
                .text("query_id", SELECT));
        assertThat(count(List.of(prepare, execute))).isEqualTo(2);
    }

    @Test
    void anEventThatComesAgainIsTheSame() {
        DetectionEvent slow = statement("slowlog", 10, SELECT);
        DetectionEvent audit = statement("audit", 10, SELECT);
        DetectionEvent other = statement("slowlog", 10.1, SELECT);
        assertThat(count(List.of(slow, audit, audit, other, slow, audit))).isEqualTo(2);
    }

    @Test
    void stateIsTheSameWhenWrittenAndRead() throws IOException {
        SessionActionState actions = new SessionActionState(100);
        ActionObservation first =
                ActionObservation.of(statement("slowlog", 10, SELECT)).orElseThrow();
        actions.resolve(first);
        actions.resolve(ActionObservation.of(row(10, 1)).orElseThrow());
        actions.resolve(ActionObservation.of(slow(10, 30)).orElseThrow());
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        actions.write(new DataOutputStream(bytes));
        SessionActionState read =
                SessionActionState.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())), 100);
        assertThat(read.resolve(ActionObservation.of(audited(10, SELECT, 1)).orElseThrow()))
                .isEqualTo(first.candidateAction());
        assertThat(read.size()).isEqualTo(2);
        assertThat(read.forget(11_000_000)).isFalse();
        assertThat(read.size()).isEqualTo(1);
        assertThat(read.forget(41_000_000)).isTrue();
    }

    @Test
    void aPackedSessionKnowsTheSameAndIsSmall() throws IOException {
        SessionActionState open = new SessionActionState(1_000);
        SessionActionState packed = new SessionActionState(1_000);
        for (int i = 0; i < 1_000; i++) {
            ActionObservation observation = observation(new UUID(i, -i).toString(), i, i % 2 == 0 ? SELECT : UPDATE);
            ActionReference action = open.resolve(observation);
            assertThat(packed.resolve(observation)).isEqualTo(action);
            packed.pack();
        }
        assertThat(packed.isPacked()).isTrue();
        assertThat(written(packed)).isEqualTo(written(open)).hasSizeLessThan(1_000 * 65);
        assertThat(packed.isPacked()).isTrue();
        for (int i = 0; i < 1_000; i++) {
            ActionObservation again = ActionObservation.of(statement("audit", i, i % 2 == 0 ? SELECT : UPDATE))
                    .orElseThrow();
            assertThat(packed.resolve(again)).isEqualTo(open.resolve(again));
            packed.pack();
        }
        assertThat(packed.latestMicros()).isEqualTo(999_000_000);
        assertThat(packed.forget(999_000_000)).isFalse();
        assertThat(packed.size()).isEqualTo(1);
    }

    private static ActionObservation observation(String id, int second, String queryId) {
        return ActionObservation.of(
                        DetectionEvent.builder(id, second * 1_000_000L, new LogSource("database", "mysql", "slowlog"))
                                .text("instance", "db1")
                                .number("connection_id", 7)
                                .text("event_class", "query")
                                .text("query_id", queryId)
                                .build())
                .orElseThrow();
    }

    private static byte[] written(SessionActionState actions) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        actions.write(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }

    /** Bytes that version 1 wrote: a statement that one of two logs has recorded. */
    @Test
    void stateOfTheFirstVersionIsRead() throws IOException {
        ActionObservation slow =
                ActionObservation.of(statement("slowlog", 10, SELECT)).orElseThrow();
        ActionObservation audit =
                ActionObservation.of(statement("audit", 10, SELECT)).orElseThrow();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeByte(1);
        out.writeInt(slow.source() | audit.source());
        out.writeInt(1);
        out.writeUTF(slow.candidateAction().id());
        for (long number : new long[] {
            slow.candidateAction().micros(), slow.candidateAction().order(), slow.kind(), 0
        }) {
            out.writeLong(number);
        }
        out.writeInt(slow.source());
        out.writeInt(slow.verb());
        out.writeBoolean(false);
        out.writeLong(slow.tables());
        out.writeLong(slow.minimumDurationMicros());
        out.writeBoolean(false);
        out.writeByte(1);
        out.writeLong(TextHash.of(slow.candidateAction().id()));
        SessionActionState read =
                SessionActionState.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())), 100);
        assertThat(read.nextCleanupMillis()).isZero();
        assertThat(read.resolve(audit)).isEqualTo(slow.candidateAction());
    }

    @Test
    void memoryIsBounded() {
        ActionResolver actions = new ActionResolver(1_000);
        for (int i = 0; i < 5_000; i++) {
            long connection = i % 50;
            actions.of(event("general", i, fields -> fields.text("event_class", "query")
                    .number("connection_id", connection)
                    .text("query_id", SELECT)));
        }
        assertThat(actions.size()).isLessThanOrEqualTo(1_050);
        ActionResolver one = new ActionResolver(1_000);
        for (int i = 0; i < 5_000; i++) {
            one.of(statement("general", i, SELECT));
        }
        assertThat(one.size()).isEqualTo(1_000);
    }

    @Test
    void invalidTimesCostNoTime() {
        GrowthRate.assertLinear(
                "statements without end", 500, 16_000, statements -> () -> actionsWithoutEnd(statements));
    }

    private void actionsWithoutEnd(int statements) {
        ActionResolver actions = new ActionResolver(ActionResolver.MAX_ACTIONS);
        for (int i = 0; i < statements; i++) {
            actions.of(slow(i, 1e12));
        }
        for (int i = 0; i < statements / 10; i++) {
            actions.of(statement("audit", i * 10, UPDATE));
        }
    }
}
