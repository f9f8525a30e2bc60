package io.tailrace.detection.correlation;

import static io.tailrace.detection.sigma.reader.RuleText.correlation;
import static io.tailrace.detection.sigma.reader.RuleText.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.reader.RuleSetReader;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.testing.PropertyTestBudget;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Matches that arrive after later ones, as those of a log that is read behind another log of its server. */
class LateMatchesTest {

    private static final long SECOND = 1_000_000;
    private static final String COUNT = "type: value_count\ntimespan: 10s\ncondition: {gte: 3, field: host}\n";
    private static final String TEMPORAL = "type: temporal\ntimespan: 10s\n";
    private static final String ORDERED = "type: temporal_ordered\ntimespan: 10s\n";
    private static final String EITHER = "type: temporal_ordered\ntimespan: 10s\ncondition: one and two\n";
    /** A correlation that evaluates each window of a late match needs 14 to 215 on a machine where this takes 0.1 to 1.4. */
    private static final long MAX_CPU_SECONDS = 5;

    private final List<RaisedAlert> alerts = new ArrayList<>();
    private InMemoryCorrelationEngine engine;
    private int number;

    private record Match(String rule, long second, String host) {}

    @ParameterizedTest
    @ValueSource(strings = {COUNT, TEMPORAL, ORDERED, EITHER})
    void theOrderOfArrivalDoesNotDecideWhetherACorrelationFires(String body) {
        int fired = 0;
        int budget = PropertyTestBudget.of(400, 10_000);
        for (int seed = 0; seed < budget; seed++) {
            Random random = new Random(seed);
            List<Match> matches = Stream.generate(() -> new Match(
                            random.nextInt(4) == 0 ? "one" : "two",
                            random.nextInt(60),
                            Integer.toString(random.nextInt(4))))
                    .limit(1 + random.nextInt(8))
                    .toList();
            start(body);
            matches.forEach(match -> add(match.rule, match.second * SECOND, match.host));
            boolean expected = matches.stream().anyMatch(end -> isFulfilled(body, matches, end.second));
            assertThat(!alerts.isEmpty()).as("seed %d: %s", seed, matches).isEqualTo(expected);
            fired += expected ? 1 : 0;
        }
        assertThat(fired).isBetween(budget / 10, budget * 9 / 10);
    }

    private static boolean isFulfilled(String body, List<Match> matches, long end) {
        List<Match> window = matches.stream()
                .filter(match -> match.second >= end - 10 && match.second <= end)
                .toList();
        if (body.equals(COUNT)) {
            return window.stream().map(Match::host).distinct().count() >= 3;
        }
        return window.stream()
                .anyMatch(one -> one.rule.equals("one")
                        && window.stream()
                                .anyMatch(two ->
                                        two.rule.equals("two") && (body.equals(TEMPORAL) || one.second < two.second)));
    }

    /** Twice as many matches as a group keeps, then as many late ones: each is in a thousand windows that do not fire. */
    @ParameterizedTest
    @ValueSource(strings = {TEMPORAL, ORDERED, EITHER, "value_count"})
    void aLateMatchOfABusyGroupIsCheap(String body) {
        boolean counts = body.equals("value_count");
        start((counts ? "type: value_count\ntimespan: 10s\ncondition: {gte: 900, field: host}\n" : body)
                .replace("10s", "1h"));
        long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        for (int i = 0; i < 20_000; i++) {
            long late = i % 2 == 0 ? 0 : 300 * SECOND;
            add("two", i * SECOND / 20 + 900 * SECOND - late, "h" + i % 890);
        }
        long seconds = (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before) / 1_000_000_000;
        assertThat(alerts).isEmpty();
        assertThat(seconds).isLessThan(MAX_CPU_SECONDS);
    }

    /** The same window is counted once, however its ends are reached. */
    @Test
    void aWindowThatMovesCountsWhatIsWithinIt() {
        int budget = PropertyTestBudget.of(200, 10_000);
        for (int seed = 0; seed < budget; seed++) {
            Random random = new Random(seed);
            GroupWindow window = new GroupWindow();
            for (int i = 0; i < random.nextInt(30); i++) {
                String value = Integer.toString(random.nextInt(6));
                window.add(new RuleMatch(random.nextInt(50), 0, "a" + i, "", RuleIds.ANY, value, 100), 1_000);
            }
            SlidingDistinct distinct = new SlidingDistinct(window, 10, RuleMatch::value);
            for (long end = random.nextInt(5); end < 70; end += random.nextInt(9)) {
                long last = end;
                assertThat(distinct.until(end)).isEqualTo((int) window.occurrences().stream()
                        .filter(match -> match.micros() >= last - 10 && match.micros() <= last)
                        .map(RuleMatch::value)
                        .distinct()
                        .count());
            }
        }
    }

    private void start(String body) {
        String rules = body.startsWith("type: value_count") ? "rules: [two, one]" : "rules: [one, two]";
        RuleSet read = new RuleSetReader()
                .text("x.yml", named("one", "a: 1") + named("two", "a: 2") + correlation("c", body + rules))
                .ruleSet();
        assertThat(read.errors()).isEmpty();
        engine = new InMemoryCorrelationEngine(read.correlations(), 5 * SECOND);
        alerts.clear();
    }

    private void add(String rule, long micros, String host) {
        DetectionEvent.Builder event = DetectionEvent.builder("e" + ++number, micros, LogSource.ANY);
        event.texts("host", List.of(host));
        engine.match(rule, event.build(), alerts::add);
    }
}
