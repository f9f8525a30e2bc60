package io.tailrace.detection.correlation;

import static io.tailrace.detection.sigma.reader.RuleText.correlation;
import static io.tailrace.detection.sigma.reader.RuleText.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.reader.RuleSetReader;
import io.tailrace.detection.sigma.rule.CorrelationRule;
import io.tailrace.detection.sigma.rule.RuleSet;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InMemoryCorrelationEngineTest {

    private static final long SECOND = 1_000_000;
    private static final String RULES =
            named("fail", "a: fail") + named("login", "a: login") + named("dump", "a: dump");

    private final List<RaisedAlert> alerts = new ArrayList<>();
    private InMemoryCorrelationEngine engine;
    private int number;

    @Test
    void countsEventsWithinTheTimespan() {
        start("type: event_count\nrules: fail\ngroup-by: user\ntimespan: 10s\ncondition: {gte: 3}");

        match("fail", 0, "root");
        match("fail", 5, "root");
        match("fail", 5, "other");
        match("fail", 10, "Root");

        assertThat(alerts).singleElement().satisfies(alert -> {
            assertThat(alert.metric()).isEqualTo(3);
            assertThat(alert.micros()).isEqualTo(10 * SECOND);
            assertThat(alert.windowFrom()).isZero();
            assertThat(alert.entity()).containsExactly(Map.entry("user", "root"));
            assertThat(alert.eventIds()).containsExactly("e1", "e2", "e4");
            assertThat(alert.late()).isFalse();
        });
    }

    @Test
    void furtherMatchesHaveTheirLevelUntilTheTimespanIsOver() {
        start("type: value_count\nrules: fail\ngroup-by: user\ntimespan: 10s\n"
                + "condition: {gte: 1, field: host}\nrepeat_level: low");

        match("fail", 20, "root");
        match("fail", 21, "root");
        match("fail", 21, "other");
        match("fail", 15, "root");
        match("fail", 40, "root");

        assertThat(alerts)
                .extracting(alert ->
                        alert.rule().level() + " " + alert.entity().get("user") + " " + alert.micros() / SECOND)
                .containsExactly("MEDIUM root 20", "LOW root 21", "MEDIUM other 21", "LOW root 15", "MEDIUM root 40");
        assertThat(alerts.get(1).facts()).containsEntry("first_reported", "1970-01-01T00:00:20Z");
        assertThat(alerts).extracting(RaisedAlert::id).doesNotHaveDuplicates();
    }

    @Test
    void oneChangeOnSeveralServersIsReportedOnce() {
        start("type: value_count\nrules: fail\ngroup-by: [user, host]\noptional: [host]\ntimespan: 90d\n"
                + "condition: {gte: 1, field: instance}\nrepeat_level: low\none_change: 10s");

        on("one", 20, "dba", "jump");
        on("two", 25, "dba", "jump");
        on("three", 26, "dba", "other");
        on("three", 27, "eve", "jump");
        on("four", 60, "dba", "jump"); // later: another change
        on("two", 90, "dba", "jump"); // known on this server
        on("five", 91, "root", "localhost");
        on("six", 92, "root", "localhost"); // another machine
        on("six", 93, "root", "127.0.0.1");
        on("seven", 94, "root", "127.0.0.1");

        assertThat(alerts)
                .extracting(alert -> alert.rule().level() + " " + alert.entity().get("instance") + " "
                        + alert.entity().get("user"))
                .containsExactly(
                        "MEDIUM one dba",
                        "LOW two dba",
                        "MEDIUM three dba",
                        "MEDIUM three eve",
                        "MEDIUM four dba",
                        "LOW two dba",
                        "MEDIUM five root",
                        "MEDIUM six root",
                        "MEDIUM six root",
                        "MEDIUM seven root");
        assertThat(alerts.get(1).facts()).containsEntry("first_reported", "1970-01-01T00:00:20Z");
        assertThat(alerts).extracting(RaisedAlert::id).doesNotHaveDuplicates();
    }

    @Test
    void aServerIsOneOfTheSameChangeOnlyUntilTheChangeIsOver() {
        start("type: value_count\nrules: fail\ngroup-by: [user, host]\noptional: [host]\ntimespan: 90d\n"
                + "condition: {gte: 1, field: instance}\nrepeat_level: low\none_change: 10s");

        on("one", 20, "dba", "jump");
        on("two", 29, "dba", "jump"); // repeated, so it does not prolong the change
        on("three", 31, "dba", "jump");

        assertThat(alerts).extracting(alert -> alert.rule().level().name()).containsExactly("MEDIUM", "LOW", "MEDIUM");
    }

    private void on(String instance, int second, String user, String host) {
        engine.match(
                "fail",
                DetectionEvent.builder(instance + second, second * SECOND, LogSource.ANY)
                        .text("instance", instance)
                        .text("user", user)
                        .text("host", host)
                        .build(),
                alerts::add);
    }

    @Test
    void oneMatchIsReportedOnceAtTheRepeatLevel() {
        start("type: value_count\nrules: fail\ngroup-by: user\ntimespan: 10s\n"
                + "condition: {gte: 1, field: host}\nrepeat_level: low");

        match("fail", 20, "root");
        engine.match("fail", event("again", 21, "root"), alerts::add);
        engine.match("fail", event("again", 21, "root"), alerts::add);

        engine.match("fail", event("third", 22, "root"), alerts::add);
        engine.match("fail", event("fourth", 23, "root"), alerts::add);
        engine.match("fail", event("third", 22, "root"), alerts::add); // again, from another log

        assertThat(alerts).hasSize(4);
    }

    @Test
    void anEventWithSeveralValuesIsNoRepetitionOfItself() {
        start("type: value_count\nrules: fail\ngroup-by: user\ntimespan: 10s\n"
                + "condition: {gte: 1, field: host}\nrepeat_level: low");

        for (int second = 20; second < 22; second++) {
            engine.match(
                    "fail",
                    DetectionEvent.builder("e" + second, second * SECOND, LogSource.ANY)
                            .text("user", "root")
                            .texts("host", List.of("one", "two"))
                            .build(),
                    alerts::add);
        }

        assertThat(alerts).extracting(alert -> alert.rule().level().name()).containsExactly("MEDIUM", "LOW");
    }

    @Test
    void aRepetitionNamesTheAlertOfItsTimespan() {
        start("type: value_count\nrules: fail\ngroup-by: user\ntimespan: 10s\n"
                + "condition: {gte: 1, field: host}\nrepeat_level: low");

        match("fail", 20, "root");
        match("fail", 31, "root");
        match("fail", 35, "root");

        assertThat(alerts.get(2).facts()).containsEntry("first_reported", "1970-01-01T00:00:31Z");
    }

    @Test
    void aHabitAndAnEventWithoutAnOptionalFieldAreReportedOnceEach() {
        start("type: value_count\nrules: fail\ngroup-by: [user, program]\noptional: [program]\ntimespan: 10s\n"
                + "condition: {gte: 1, field: host}");

        for (int second = 0; second < 25; second++) {
            match("fail", second, "etl");
        }
        match("fail", 25, "eve");

        assertThat(alerts)
                .extracting(alert -> alert.micros() / SECOND + " " + alert.entity())
                .containsExactly("0 {user=etl}", "10 {user=etl}", "20 {user=etl}", "25 {user=eve}");
    }

    @Test
    void aWindowIsNoLongerThanTheTimespan() {
        start("type: event_count\nrules: fail\ngroup-by: user\ntimespan: 10s\ncondition: {gte: 3}");

        match("fail", 0, "root");
        match("fail", 5, "root");
        match("fail", 11, "root");

        assertThat(alerts).isEmpty();
    }

    @Test
    void oneAttackIsOneAlertPerTimespan() {
        start("type: event_count\nrules: fail\ngroup-by: user\ntimespan: 10s\ncondition: {gt: 1}");

        for (int second = 0; second < 30; second++) {
            match("fail", second, "root");
        }

        assertThat(alerts).extracting(RaisedAlert::micros).containsExactly(SECOND, 11 * SECOND, 21 * SECOND);
        assertThat(alerts).extracting(RaisedAlert::id).doesNotHaveDuplicates();
    }

    @Test
    void anEventThatIsReplayedCountsOnce() {
        start("type: event_count\nrules: fail\ntimespan: 10s\ncondition: {gte: 2}");
        DetectionEvent event = event("same", 1, "root");

        engine.match("fail", event, alerts::add);
        engine.match("fail", event, alerts::add);

        assertThat(alerts).isEmpty();
    }

    @Test
    void countsDistinctValues() {
        start("type: value_count\nrules: fail\ngroup-by: host\ntimespan: 1m\ncondition: {gte: 3, field: user}");

        for (String user : List.of("a", "b", "A", "b", "a", "c")) {
            match("fail", number, user);
        }

        assertThat(alerts).singleElement().satisfies(alert -> {
            assertThat(alert.metric()).isEqualTo(3);
            assertThat(alert.micros()).isEqualTo(5 * SECOND);
        });
    }

    @Test
    void temporalWantsAllRulesInAnyOrder() {
        start("type: temporal\nrules: [fail, login]\ngroup-by: user\ntimespan: 10s");

        match("login", 0, "root");
        match("fail", 3, "other");
        assertThat(alerts).isEmpty();
        match("fail", 4, "root");
        assertThat(alerts).hasSize(1);
    }

    @Test
    void temporalWithAnExpressionWantsOneOfItsAlternatives() {
        start("type: temporal\ngroup-by: user\ntimespan: 10s\ncondition: fail and (login or dump)");

        match("login", 0, "a");
        match("dump", 1, "a");
        match("fail", 2, "b");
        match("dump", 3, "b");
        match("fail", 20, "a");
        match("login", 31, "a");
        match("login", 40, "a");
        match("fail", 45, "a");

        assertThat(alerts)
                .extracting(alert -> alert.micros() / SECOND + " " + alert.entity() + " " + alert.metric() + " "
                        + alert.facts().get("condition"))
                .containsExactly("3 {user=b} 2 fail and (login or dump)", "45 {user=a} 2 fail and (login or dump)");
    }

    @Test
    void temporalOrderedWithAnExpressionWantsTheOrderOfItsRules() {
        start("type: temporal_ordered\nrules: [fail, login, dump]\ngroup-by: user\ntimespan: 10s\n"
                + "condition: (fail AND dump) or (login and dump)");

        match("dump", 0, "a");
        match("login", 1, "a");
        match("fail", 2, "a");
        match("dump", 20, "b");
        match("fail", 21, "b");
        match("dump", 22, "b");
        match("login", 30, "c");
        match("dump", 30, "c");
        match("dump", 31, "c");

        assertThat(alerts)
                .extracting(alert -> alert.micros() / SECOND + " " + alert.entity())
                .containsExactly("22 {user=b}", "31 {user=c}");
    }

    @Test
    void temporalOrderedWantsTheirOrder() {
        start("type: temporal_ordered\nrules: [fail, login, dump]\ngroup-by: user\ntimespan: 10s");

        match("login", 0, "root");
        match("fail", 1, "root");
        match("dump", 2, "root");
        assertThat(alerts).isEmpty();
        match("login", 3, "root");
        match("dump", 4, "root");
        assertThat(alerts).hasSize(1);
    }

    @Test
    void eventsOfTheSameTimeAreInTheOrderOfTheirLog() {
        start("type: temporal_ordered\nrules: [fail, login]\ntimespan: 10s");
        LogSource source = LogSource.ANY;

        engine.match("login", DetectionEvent.builder("1", 0, source).order(70).build(), alerts::add);
        engine.match("fail", DetectionEvent.builder("2", 0, source).order(80).build(), alerts::add);
        assertThat(alerts).isEmpty();
        engine.match("login", DetectionEvent.builder("3", 0, source).order(90).build(), alerts::add);
        assertThat(alerts).hasSize(1);
    }

    @Test
    void conditionsThatMoreEventsMakeFalseWaitForTheWatermark() {
        start("type: event_count\nrules: login\ngroup-by: user\ntimespan: 10s\ncondition: {lt: 2}");

        match("login", 5, "root");
        match("login", 3, "root");
        assertThat(alerts).isEmpty();
        engine.advance(4 * SECOND, alerts::add);
        assertThat(alerts).extracting(RaisedAlert::micros).containsExactly(3 * SECOND);
        engine.advance(20 * SECOND, alerts::add);
        assertThat(alerts).hasSize(1);
    }

    @Test
    void aliasesNameDifferentFields() {
        String yaml = RULES
                + correlation(
                        "c",
                        "type: temporal\nrules: [fail, login]\ntimespan: 10s\ngroup-by: [who]\n"
                                + "aliases: {who: {fail: user, login: account}}");
        engine = new InMemoryCorrelationEngine(compile(yaml).correlations(), 0);

        match("fail", 1, "root");
        engine.match(
                "login",
                DetectionEvent.builder("x", 2 * SECOND, LogSource.ANY)
                        .text("account", "root")
                        .build(),
                alerts::add);

        assertThat(alerts).hasSize(1);
    }

    @Test
    void correlationsAreCorrelated() {
        String yaml = RULES
                + correlation(
                        "many", "type: event_count\nrules: fail\ngroup-by: user\ntimespan: 10s\ncondition: {gte: 2}")
                + correlation("then", "type: temporal_ordered\nrules: [many, login]\ngroup-by: user\ntimespan: 10s");
        RuleSet rules = compile(yaml);
        engine = new InMemoryCorrelationEngine(rules.correlations(), 0);

        match("fail", 1, "root");
        match("fail", 2, "root");
        match("login", 3, "root");

        assertThat(alerts).extracting(alert -> alert.rule().name()).containsExactly("then");
        assertThat(rules.rules())
                .filteredOn(rule -> rule.header().name().equals("fail"))
                .allMatch(rule -> !rule.alerts());
    }

    @Test
    void generateLeavesTheRulesTheirAlerts() {
        String body = "type: event_count\nrules: fail\ntimespan: 10s\ncondition: {gte: 2}\ngenerate: true";

        assertThat(compile(RULES + correlation("c", body)).rules()).allMatch(rule -> rule.alerts());
    }

    @Test
    void stateIsForgotten() {
        start("type: event_count\nrules: fail\ngroup-by: user\ntimespan: 10s\ncondition: {gte: 2}");

        match("fail", 0, "root");
        match("fail", 1, "root");
        match("fail", 1, "other");
        engine.advance(1000 * SECOND, alerts::add);

        assertThat(engine.groups()).isZero();
    }

    @Test
    void lateEventsCountAndAreMarked() {
        start("type: event_count\nrules: fail\ngroup-by: user\ntimespan: 10s\ncondition: {gte: 2}");
        engine.advance(1000 * SECOND, alerts::add);

        match("fail", 1, "root");
        engine.advance(1001 * SECOND, alerts::add);
        match("fail", 2, "root");

        assertThat(alerts).singleElement().satisfies(alert -> assertThat(alert.late())
                .isTrue());
    }

    @Test
    void aMatchThatComesLaterThanTheEndOfItsWindowIsComparedThere() {
        start("type: event_count\nrules: fail\ntimespan: 10s\ncondition: {gte: 2}");

        match("fail", 10, "root");
        match("fail", 0, "root");

        assertThat(alerts).extracting(RaisedAlert::micros).containsExactly(10 * SECOND);
    }

    @Test
    void anEventThatIsAsLateAsAllowedCountsInFull() {
        start("type: event_count\nrules: fail\ngroup-by: user\ntimespan: 10s\ncondition: {gte: 2}");

        match("fail", 0, "root");
        engine.advance(15 * SECOND, alerts::add);
        match("fail", 10, "root");

        assertThat(alerts).singleElement().satisfies(alert -> {
            assertThat(alert.metric()).isEqualTo(2);
            assertThat(alert.late()).isFalse();
        });
    }

    @Test
    void onlyAnEventThatIsLaterThanAllowedIsMarked() {
        start("type: event_count\nrules: fail\ngroup-by: user\ntimespan: 10s\ncondition: {gte: 1}");
        engine.advance(100 * SECOND, alerts::add);

        match("fail", 98, "before the watermark");
        match("fail", 103, "after it");
        match("fail", 94, "too late");

        assertThat(alerts).extracting(RaisedAlert::late).containsExactly(false, false, true);
    }

    @Test
    void reportedValuesAreRememberedAsLongAsLateEventsMayArrive() {
        start("type: event_count\nrules: fail\ngroup-by: user\ntimespan: 10s\ncondition: {gte: 2}");
        match("fail", 0, "root");
        match("fail", 10, "root");
        assertThat(alerts).hasSize(1);

        engine.advance(26 * SECOND, alerts::add);
        match("fail", 19, "root");
        match("fail", 19, "root");

        assertThat(alerts).hasSize(1);
    }

    @Test
    void whatTheWatermarkHasPassedIsNotComparedAgain() {
        start("type: event_count\nrules: login\ngroup-by: user\ntimespan: 10s\ncondition: {lt: 2}");
        match("login", 0, "root");
        match("login", 10, "root");

        engine.advance(10 * SECOND, alerts::add);
        assertThat(alerts).extracting(RaisedAlert::micros).containsExactly(0L);
        engine.advance(18 * SECOND, alerts::add); // forgets the first
        engine.advance(19 * SECOND, alerts::add);
        assertThat(alerts).hasSize(1);
    }

    @Test
    void alertsOfTheSameTimeHaveTheirGroupInTheirId() {
        start("type: event_count\nrules: fail\ngroup-by: user\ntimespan: 10s\ncondition: {gte: 1}");

        match("fail", 1, "root");
        match("fail", 1, "other");

        assertThat(alerts).hasSize(2).extracting(RaisedAlert::id).doesNotHaveDuplicates();
    }

    @Test
    void anAlertContainsItsEvidence() {
        start("type: value_count\nrules: fail\ntimespan: 10s\ncondition: {gt: 1, field: user}");

        match("fail", 1, "root");
        match("fail", 2, "other");

        assertThat(alerts).singleElement().satisfies(alert -> assertThat(alert.facts())
                .containsOnly(Map.entry("matches", "2"), Map.entry("condition", "gt 1"), Map.entry("counted", "user")));
    }

    @Test
    void anAlertThatCountsEventsNamesNoField() {
        start("type: event_count\nrules: fail\ntimespan: 10s\ncondition: {gte: 1}");

        match("fail", 1, "root");

        assertThat(alerts).singleElement().satisfies(alert -> assertThat(alert.facts())
                .containsOnlyKeys("matches", "condition"));
    }

    @Test
    void aConditionMayWantMoreThanIsUsuallyKept() {
        int bound = CorrelationEvaluator.MAX_OCCURRENCES + 500;
        start("type: event_count\nrules: fail\ntimespan: 1h\ncondition: {gte: %d}".formatted(bound));

        for (int i = 0; i < bound; i++) {
            match("fail", i, "root");
        }

        assertThat(alerts).singleElement().extracting(RaisedAlert::metric).isEqualTo((long) bound);
    }

    @Test
    void oneRuleOfAnOrderIsASequenceOfOne() {
        start("type: temporal_ordered\nrules: [fail, login]\ntimespan: 10s\ncondition: {gte: 1}");

        match("login", 1, "root");

        assertThat(alerts).singleElement().extracting(RaisedAlert::metric).isEqualTo(1L);
    }

    /** Fires when a window contains enough matches by definition, in every order of arrival, and with interruptions. */
    @ParameterizedTest
    @CsvSource({
        "event_count,'condition: {gte: 4}'",
        "value_count,'condition: {gte: 3, field: value}'",
        "temporal,'condition: {gte: 3}'",
        "temporal_ordered,''",
        "temporal_ordered,'condition: {gte: 2}'"
    })
    void firesAccordingToTheDefinition(String type, String condition) throws IOException {
        String body = "type: " + type + "\nrules: [fail, login, dump]\ngroup-by: user\ntimespan: 10s\n" + condition;
        CorrelationRule rule =
                compile(RULES + correlation("c", body)).correlations().get(0);
        for (int seed = 0; seed < 60; seed++) {
            Random random = new Random(seed);
            List<Matched> stream = stream(random);
            List<Long> inOrder = run(rule, stream, false);
            assertThat(inOrder).isEqualTo(episodes(rule, stream));
            assertThat(run(rule, stream, true)).isEqualTo(inOrder);
            Collections.shuffle(stream, random);
            assertThat(new HashSet<>(run(rule, stream, false)).isEmpty()).isEqualTo(inOrder.isEmpty());
        }
    }

    private record Matched(String rule, int second, String value) {}

    private static List<Matched> stream(Random random) {
        List<Matched> stream = new ArrayList<>();
        int second = 0;
        for (int i = 0; i < 40; i++) {
            second += random.nextInt(8);
            stream.add(new Matched(
                    List.of("fail", "login", "dump").get(random.nextInt(3)), second, "v" + random.nextInt(4)));
        }
        return stream;
    }

    private List<Long> run(CorrelationRule rule, List<Matched> stream, boolean interrupted) throws IOException {
        alerts.clear();
        engine = new InMemoryCorrelationEngine(List.of(rule), 0);
        int id = 0;
        for (Matched matched : stream) {
            engine.match(matched.rule, event("e" + id++, matched.second, matched.value), alerts::add);
            if (interrupted) {
                engine.advance(matched.second * SECOND, alerts::add);
                engine = restored(rule);
            }
        }
        return alerts.stream().map(RaisedAlert::micros).toList();
    }

    @Test
    void aPushThatChangesTheOrderOfRulesCountsWhatMatchedBefore() throws IOException {
        String body = "type: temporal\nrules: [%s]\ngroup-by: user\ntimespan: 10s";
        start(body.formatted("fail, login, dump"));
        match("fail", 0, "root");
        match("login", 1, "root");

        engine = restored(compile(RULES + correlation("c", body.formatted("login, dump, fail")))
                .correlations()
                .get(0));
        match("login", 2, "root");
        match("fail", 3, "root");
        assertThat(alerts).isEmpty();
        match("dump", 4, "root");
        assertThat(alerts).singleElement().extracting(RaisedAlert::metric).isEqualTo(3L);
    }

    @Test
    void aPushThatChangesTheOrderedRulesWantsTheNewOrderOfWhatMatchedBefore() throws IOException {
        String body = "type: temporal_ordered\nrules: [%s]\ngroup-by: user\ntimespan: 10s";
        start(body.formatted("fail, login, dump"));
        match("login", 0, "root");
        match("fail", 1, "root");

        engine = restored(compile(RULES + correlation("c", body.formatted("login, fail, dump")))
                .correlations()
                .get(0));
        match("dump", 2, "root");
        assertThat(alerts).singleElement().extracting(RaisedAlert::metric).isEqualTo(3L);
    }

    @Test
    void stateThatHasPlacesOfRulesIsStillRead() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeByte(1);
        out.writeLong(Long.MIN_VALUE);
        out.writeInt(0);
        out.writeInt(1);
        new RuleMatch(0, 0, "e0", "e0", 1, "", 100 * SECOND).write(out);
        GroupWindow window = GroupWindow.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
        CorrelationRule rule = compile(RULES + correlation("c", "type: temporal\nrules: [fail, login]\ntimespan: 10s"))
                .correlations()
                .get(0);
        new CorrelationEvaluator(rule, 0).add("fail", event("e1", 1, "root"), List.of(), window, 0, alerts::add);
        assertThat(alerts).singleElement().extracting(RaisedAlert::metric).isEqualTo(2L);
    }

    private InMemoryCorrelationEngine restored(CorrelationRule rule) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        engine.write(new DataOutputStream(bytes));
        InMemoryCorrelationEngine restored = new InMemoryCorrelationEngine(List.of(rule), 0);
        restored.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
        return restored;
    }

    /** The definition, implemented literally. */
    private static List<Long> episodes(CorrelationRule rule, List<Matched> stream) {
        List<Long> fired = new ArrayList<>();
        for (long end :
                new TreeSet<>(stream.stream().map(matched -> matched.second).toList())) {
            List<Matched> window = stream.stream()
                    .filter(matched -> matched.second <= end && matched.second >= end - 10)
                    .toList();
            boolean apart = fired.isEmpty() || end * SECOND - fired.get(fired.size() - 1) >= 10 * SECOND;
            if (apart && metric(rule, window) >= rule.bound()) {
                fired.add(end * SECOND);
            }
        }
        return fired;
    }

    private static long metric(CorrelationRule rule, List<Matched> window) {
        return switch (rule.type()) {
            case EVENT_COUNT -> window.size();
            case VALUE_COUNT -> window.stream().map(Matched::value).distinct().count();
            case TEMPORAL -> window.stream().map(Matched::rule).distinct().count();
            case TEMPORAL_ORDERED -> longest(List.of("fail", "login", "dump"), window, -1);
            default -> throw new IllegalArgumentException(rule.type().toString());
        };
    }

    private static long longest(List<String> rules, List<Matched> window, int after) {
        if (rules.isEmpty()) {
            return 0;
        }
        List<String> rest = rules.subList(1, rules.size());
        long best = longest(rest, window, after);
        for (Matched matched : window) {
            if (matched.rule.equals(rules.get(0)) && matched.second > after) {
                best = Math.max(best, 1 + longest(rest, window, matched.second));
            }
        }
        return best;
    }

    @Test
    void aGroupIsBounded() throws IOException {
        start("type: value_count\nrules: fail\ngroup-by: host\ntimespan: 1h\ncondition: {gte: 50, field: user}");

        for (int i = 0; i < 20_000; i++) {
            engine.match("fail", event("e" + i, i / 10, "user" + i % 40), alerts::add);
        }

        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        engine.write(new DataOutputStream(bytes));
        assertThat(alerts).isEmpty();
        assertThat(bytes.size()).isLessThan(20_000);
    }

    private void start(String body) {
        engine = new InMemoryCorrelationEngine(
                compile(RULES + correlation("c", body)).correlations(), 5 * SECOND);
    }

    private static RuleSet compile(String yaml) {
        RuleSet rules = new RuleSetReader().text("x.yml", yaml).ruleSet();
        assertThat(rules.errors()).isEmpty();
        return rules;
    }

    private void match(String rule, long second, String user) {
        engine.match(rule, event("e" + ++number, second, user), alerts::add);
    }

    private static DetectionEvent event(String id, long second, String user) {
        return DetectionEvent.builder(id, second * SECOND, LogSource.ANY)
                .text("user", user.startsWith("v") ? "u" : user)
                .text("value", user)
                .text("host", "h")
                .build();
    }
}
