package io.tailrace.detection.correlation;

import static io.tailrace.detection.sigma.reader.RuleText.correlation;
import static io.tailrace.detection.sigma.reader.RuleText.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.reader.RuleSetReader;
import io.tailrace.detection.sigma.rule.RuleSet;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Events with several values of a field, and the bounds of a group in time and in memory. */
class CorrelationGroupsTest {

    private static final long SECOND = 1_000_000;

    private final List<RaisedAlert> alerts = new ArrayList<>();
    private InMemoryCorrelationEngine engine;
    private int number;

    @Test
    void anEventWithSeveralValuesCountsInEachOfItsGroups() {
        start("type: event_count\ngroup-by: [user, host, program]\noptional: [program]\ntimespan: 10s\n"
                + "condition: {gte: 2}");

        match(1, Map.of("user", List.of("a", "b"), "host", List.of("x", "y")));
        match(2, Map.of("user", List.of("b"), "host", List.of("x", "z"), "program", List.of()));
        match(3, Map.of("user", List.of("a", "b"), "host", List.of()));
        match(4, Map.of("user", List.of("a"), "host", List.of("x"), "program", List.of("cron", "etl")));
        match(5, Map.of("user", List.of("a"), "host", List.of("x"), "program", List.of("etl")));

        assertThat(alerts)
                .extracting(alert -> alert.micros() / SECOND + " " + alert.entity())
                .containsExactly("2 {user=b, host=x}", "5 {user=a, host=x, program=etl}");
    }

    @Test
    void anEventHasAtMost64Groups() {
        String body = "type: event_count\ngroup-by: [user, host]\ntimespan: 10s\ncondition: {gte: 2}";
        for (int values : new int[] {7, 8, 10}) {
            start(body);
            List<String> many =
                    IntStream.range(0, values).mapToObj(i -> "n" + i).toList();
            match(1, Map.of("user", many, "host", many));
            assertThat(engine.groups()).isEqualTo(Math.min(values * values, MatchGroups.MAX_GROUPS));
        }
    }

    @Test
    void everyValueOfAnEventIsCounted() {
        start("type: value_count\ntimespan: 10s\ncondition: {gte: 3, field: host}");

        match(1, Map.of("host", List.of("one", "two", "TWO")));
        assertThat(alerts).isEmpty();
        match(2, Map.of("host", List.of("two", "three")));

        assertThat(alerts).singleElement().extracting(RaisedAlert::metric).isEqualTo(3L);
    }

    @Test
    void everyAlertOfAnEventHasItsOwnId() {
        start("type: value_count\ngroup-by: user\ntimespan: 10s\ncondition: {gte: 1, field: host}\n"
                + "repeat_level: low");

        for (int second = 1; second <= 2; second++) {
            match(second, Map.of("user", List.of("a", "b"), "host", List.of("x")));
        }

        assertThat(alerts).hasSize(4).extracting(RaisedAlert::id).doesNotHaveDuplicates();
    }

    /** Exactly after the timespan, or after the time of a change, a match is no repetition. */
    @Test
    void aRepetitionIsNearerThanTheTimespan() {
        start("type: value_count\ngroup-by: user\ntimespan: 10s\ncondition: {gte: 1, field: host}\n"
                + "repeat_level: low\none_change: 5s");

        for (Object[] match : new Object[][] {
            {20, "a", "x"},
            {29, "a", "x"},
            {20, "b", "x"},
            {30, "b", "x"},
            {20, "c", "x"},
            {24, "c", "y"},
            {25, "c", "z"}
        }) {
            match((int) match[0], Map.of("user", List.of((String) match[1]), "host", List.of((String) match[2])));
        }

        assertThat(alerts)
                .extracting(alert -> alert.entity().get("user") + " " + alert.micros() / SECOND + " "
                        + alert.rule().level())
                .containsExactly(
                        "a 20 MEDIUM",
                        "a 29 LOW",
                        "b 20 MEDIUM",
                        "b 30 MEDIUM",
                        "c 20 MEDIUM",
                        "c 24 LOW",
                        "c 25 MEDIUM");
    }

    /** A late match changes no window that was compared, and ends none of its own. */
    @Test
    void aWindowThatTheWatermarkHasPassedIsNotComparedAgain() {
        for (int late : new int[] {5, 8}) {
            start("type: event_count\ntimespan: 10s\ncondition: {eq: 2}");
            match(late == 5 ? 10 : 5, Map.of());
            engine.advance(10 * SECOND, alerts::add);
            match(late, Map.of());
            engine.advance(12 * SECOND, alerts::add);
            assertThat(alerts).as("a match at %d", late).isEmpty();
        }
    }

    @Test
    void theMatchesOfAGroupAreBounded() throws IOException {
        start("type: event_count\ntimespan: 1h\ncondition: {gte: 10}");
        for (int i = 0; i < 5_000; i++) {
            match(i / 10, Map.of());
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        engine.write(new DataOutputStream(bytes));
        assertThat(bytes.size()).isLessThan(100 * CorrelationEvaluator.MAX_OCCURRENCES);
    }

    private void start(String body) {
        RuleSet rules = new RuleSetReader()
                .text("x.yml", named("read", "a: read") + correlation("c", body + "\nrules: read"))
                .ruleSet();
        assertThat(rules.errors()).isEmpty();
        engine = new InMemoryCorrelationEngine(rules.correlations(), 5 * SECOND);
    }

    private void match(long second, Map<String, List<String>> fields) {
        DetectionEvent.Builder event = DetectionEvent.builder("e" + ++number, second * SECOND, LogSource.ANY);
        fields.forEach(event::texts);
        engine.match("read", event.build(), alerts::add);
    }
}
