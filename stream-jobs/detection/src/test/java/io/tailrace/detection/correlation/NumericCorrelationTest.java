package io.tailrace.detection.correlation;

import static io.tailrace.detection.sigma.reader.RuleText.correlation;
import static io.tailrace.detection.sigma.reader.RuleText.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.ActionReference;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.reader.RuleSetReader;
import io.tailrace.detection.sigma.rule.RuleSet;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NumericCorrelationTest {

    private static final long SECOND = 1_000_000;
    private static final String RULES = named("read", "a: read") + named("write", "a: write");

    private final List<RaisedAlert> alerts = new ArrayList<>();
    private InMemoryCorrelationEngine engine;
    private int number;

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "value_sum; {gt: 99, field: rows}; 1, 4, 5, 90; 100",
                "value_avg; {gte: 2.5, field: rows}; 1, 2, 4, 3; 2.5",
                "value_median; {eq: 3.5, field: rows}; 9, 1, 4, 3; 3.5",
                "value_percentile; {gte: 9.7, percentile: 90, field: rows}; 1, 4, 7, 11; 9.8",
                "value_percentile; {eq: 1, percentile: 0, field: rows}; 7, 4, 7, 1; 1",
                "value_percentile; {eq: 9, percentile: 100, field: rows}; 7, 4, 7, 9; 9",
                "value_sum; {lt: -2, field: rows}; 5, -3, 0, -5; -3",
                "value_avg; {gt: 5, lte: 6, field: rows}; 1, 4, 5, 14; 6",
            })
    void theMetricIsOfTheNumbersOfTheWindow(String type, String condition, String numbers, String value) {
        start("type: " + type + "\nrules: read\ngroup-by: user\ntimespan: 10s\ncondition: " + condition);
        int second = 0;
        for (String rows : numbers.split(", ")) {
            match("read", second++, "root", rows);
        }
        match("read", second, "root", "no number");
        engine.match("read", event("e", second, "root").build(), alerts::add);
        engine.advance(100 * SECOND, alerts::add);

        assertThat(alerts).singleElement().satisfies(alert -> {
            assertThat(alert.micros()).isEqualTo(3 * SECOND);
            assertThat(alert.metric()).isEqualTo(Math.round(Double.parseDouble(value)));
            assertThat(alert.facts()).containsEntry("value", value).containsEntry("matches", "4");
            String percentile = condition.replaceAll("^.*percentile: (\\d+).*$|^.*$", "$1");
            assertThat(alert.facts())
                    .containsEntry("measured", type + (percentile.isEmpty() ? "" : " " + percentile) + " of rows");
        });
    }

    @ParameterizedTest
    @CsvSource({
        "0,0,1",
        "123456789012345,123456789012345,1",
        "1234567890123456,1234567890123456,1",
        "100000000000000000000,1e20,1",
        "-5,-5,1",
        "2.5,2.5,1",
        "5000/40,5000,40",
        "-0.5/2,-0.5,2",
        "many,NaN,0",
        "'',NaN,0",
        "5/x,NaN,0"
    })
    void theTextOfAnAmountIsReadAgain(String text, double sum, long count) {
        Amount amount = Amount.parse(text);
        assertThat(amount).isEqualTo(new Amount(sum, count));
        if (count > 0) {
            assertThat(amount.text()).isEqualTo(text);
        }
    }

    @Test
    void aPercentileIsOfSingleNumbersOnly() {
        assertThat(NumericWindow.percentile(numbers("9", "1", "100/2", "many"), 50))
                .isEqualTo(5);
        assertThat(NumericWindow.percentile(numbers("many"), 50)).isNaN();
    }

    @Test
    void numbersOfASliceAreAddedUp() {
        List<RuleMatch> numbers = numbers("1", "2", "3", "4", "5");
        assertThat(NumericWindow.inSlices(numbers, 2 * NumericWindow.SLICES))
                .extracting(match -> match.micros() + ": " + match.value())
                .containsExactly("1: 3/2", "3: 7/2", "4: 5");
        assertThat(NumericWindow.inSlices(numbers, 1)).isEqualTo(numbers);
    }

    /** One match each microsecond. */
    private static List<RuleMatch> numbers(String... numbers) {
        List<RuleMatch> matches = new ArrayList<>();
        for (String text : numbers) {
            String id = "e" + matches.size();
            matches.add(new RuleMatch(matches.size(), 0, id, id, RuleIds.ANY, text, SECOND));
        }
        return matches;
    }

    @Test
    void onlyASumThatCanOnlyGrowFiresOnArrival() {
        start("type: value_sum\nrules: read\ntimespan: 10s\ncondition: {gte: 10, field: rows}");
        match("read", 0, "root", "10");
        assertThat(alerts).hasSize(1);

        for (String type : List.of("value_avg", "value_median")) {
            alerts.clear();
            start("type: " + type + "\nrules: read\ntimespan: 10s\ncondition: {gte: 10, field: rows}");
            match("read", 1, "root", "10");
            match("read", 0, "root", "2");
            assertThat(alerts).isEmpty();
            engine.advance(5 * SECOND, alerts::add);
            assertThat(alerts).isEmpty();
        }
    }

    @Test
    void anActionOfSeveralLogsAndRulesIsMeasuredOnce() {
        start("type: value_sum\nrules: [read, write]\ntimespan: 10s\ncondition: {gte: 15, field: rows}");
        for (String rows : List.of("10", "11", "10")) {
            DetectionEvent event =
                    event("e" + ++number, number, "root").text("rows", rows).build();
            event.actionFrom(requested -> new ActionReference("a", SECOND, 0));
            engine.match("read", event, alerts::add);
            engine.match("write", event, alerts::add);
        }
        assertThat(alerts).isEmpty();
        match("read", 2, "root", "5");
        assertThat(alerts).singleElement().extracting(RaisedAlert::metric).isEqualTo(15L);
    }

    @Test
    void aliasesNameTheNumberOfEachRule() {
        start("type: value_sum\nrules: [read, write]\ntimespan: 10s\ncondition: {gte: 12, field: volume}\n"
                + "aliases: {volume: {read: rows, write: bytes}}");
        match("read", 0, "root", "5");
        engine.match(
                "write",
                event("w", 1, "root").number("bytes", 7).number("rows", 1).build(),
                alerts::add);
        assertThat(alerts).singleElement().extracting(RaisedAlert::metric).isEqualTo(12L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"value_sum", "value_avg", "value_median", "value_percentile"})
    void alertsAreThoseOfTheDefinitionAlsoAfterRestores(String type) throws IOException {
        for (int seed = 0; seed < 40; seed++) {
            Random random = new Random(seed);
            String percentile = "value_percentile".equals(type) ? ", percentile: 80" : "";
            // No interpolated percentile is near a bound of 7.1, so rounding does not matter.
            double bound = "value_sum".equals(type) ? 40 : 7.1;
            RuleSet rules = compile("type: " + type + "\nrules: read\ntimespan: 10s\ncondition: {gt: " + bound
                    + percentile + ", field: rows}");
            List<long[]> events = events(random);
            List<Long> expected = fired(events, type, bound);
            engine = new InMemoryCorrelationEngine(rules.correlations(), 0);
            alerts.clear();
            for (long[] each : events) {
                match("read", each[0], "root", Long.toString(each[1]));
                if (random.nextInt(5) == 0) {
                    engine.advance((each[0] - 1) * SECOND, alerts::add);
                    restore(rules);
                }
            }
            engine.advance(10_000 * SECOND, alerts::add);
            assertThat(alerts).extracting(alert -> alert.micros() / SECOND).isEqualTo(expected);
        }
    }

    private static List<long[]> events(Random random) {
        List<long[]> events = new ArrayList<>();
        long second = 0;
        for (int i = 0; i < 40; i++) {
            events.add(new long[] {second, random.nextInt(12)});
            second += random.nextInt(5);
        }
        return events;
    }

    /** The definition, implemented literally. */
    private static List<Long> fired(List<long[]> events, String type, double bound) {
        List<Long> fired = new ArrayList<>();
        for (long end : events.stream().mapToLong(each -> each[0]).distinct().toArray()) {
            long[] window = events.stream()
                    .filter(each -> each[0] >= end - 10 && each[0] <= end)
                    .mapToLong(each -> each[1])
                    .toArray();
            boolean apart = fired.isEmpty() || end - fired.get(fired.size() - 1) >= 10;
            if (apart && metric(type, window) > bound) {
                fired.add(end);
            }
        }
        return fired;
    }

    private static double metric(String type, long[] window) {
        return switch (type) {
            case "value_sum" -> Arrays.stream(window).sum();
            case "value_avg" -> Arrays.stream(window).average().orElseThrow();
            case "value_median" -> percentile(window, 0.5);
            default -> percentile(window, 0.8);
        };
    }

    private static double percentile(long[] window, double part) {
        long[] sorted = Arrays.stream(window).sorted().toArray();
        double position = (sorted.length - 1) * part;
        int below = (int) Math.floor(position);
        int above = (int) Math.ceil(position);
        return sorted[below] * (1 - (position - below)) + sorted[above] * (position - below);
    }

    @ParameterizedTest
    @ValueSource(strings = {"value_avg", "value_median"})
    void theOrderOfArrivalDoesNotMatter(String type) {
        List<long[]> events = events(new Random(7));
        List<List<Long>> results = new ArrayList<>();
        for (int order = 0; order < 5; order++) {
            Collections.shuffle(events, new Random(order));
            start("type: " + type + "\nrules: read\ntimespan: 10s\ncondition: {gt: 5.1, field: rows}");
            alerts.clear();
            events.forEach(each -> match("read", each[0], "root", Long.toString(each[1])));
            engine.advance(10_000 * SECOND, alerts::add);
            results.add(alerts.stream().map(RaisedAlert::micros).toList());
        }
        assertThat(results.get(0)).isNotEmpty();
        assertThat(results).containsOnly(results.get(0));
    }

    /** 12,000 events in an hour: sums stay right to a slice of the timespan, and the state stays small. */
    @Test
    void theSumOfABusyGroupIsRightAndItsStateBounded() throws IOException {
        start("type: value_sum\nrules: read\ntimespan: 1h\ncondition: {gte: 24000, field: rows}");
        for (int i = 0; i < 12_000; i++) {
            engine.match(
                    "read", event("e" + i, i / 14, "root").number("rows", 2).build(), alerts::add);
        }
        assertThat(alerts).singleElement().satisfies(alert -> {
            assertThat(alert.micros()).isEqualTo(11_999 / 14 * SECOND);
            assertThat(alert.facts()).containsEntry("value", "24000").containsEntry("matches", "12000");
        });
        assertThat(stateBytes()).isLessThan(200_000);

        alerts.clear();
        start("type: value_sum\nrules: read\ntimespan: 1m\ncondition: {gte: 1, field: rows}");
        for (int i = 0; i < 8_400; i++) {
            engine.match(
                    "read", event("e" + i, i / 14, "root").number("rows", 2).build(), alerts::add);
        }
        assertThat(alerts).hasSize(10);
        assertThat(alerts.subList(1, 10))
                .allSatisfy(alert -> assertThat((double) alert.metric()).isCloseTo(2 * 60 * 14, within(40.0)));
    }

    /** The window of a busy group is its newest thousand numbers, also if nothing advances the watermark before. */
    @Test
    void thePercentileOfABusyGroupIsThatOfItsNewestNumbers() throws IOException {
        start("type: value_median\nrules: read\ntimespan: 1h\ncondition: {gte: 5000, field: rows}");
        for (int i = 0; i < 8_000; i++) {
            engine.match(
                    "read", event("e" + i, i / 20, "root").number("rows", i).build(), alerts::add);
        }
        assertThat(stateBytes()).isLessThan(250_000);
        engine.advance(100_000 * SECOND, alerts::add);
        assertThat(alerts).singleElement().satisfies(alert -> {
            assertThat(Double.parseDouble(alert.facts().get("value"))).isCloseTo(5_000, within(20.0));
            assertThat(alert.micros() / SECOND).isBetween(274L, 276L);
        });
    }

    /** What is kept of a window that was compared is no window of its own. */
    @Test
    void aWindowOfABusyGroupIsComparedOnce() {
        start("type: value_median\nrules: read\ntimespan: 1h\ncondition: {lt: 10, field: rows}");
        for (int i = 0; i < 8_000; i++) {
            boolean low = i > 100 && i % 25 > 0 && i % 25 <= 10;
            engine.match(
                    "read",
                    event("e" + i, i / 20, "root").number("rows", low ? 1 : 100).build(),
                    alerts::add);
        }
        engine.advance(100_000 * SECOND, alerts::add);
        assertThat(alerts).isEmpty();
    }

    @Test
    void aCorrelationMeasuresWhatAnotherGroupedBy() {
        RuleSet rules = new RuleSetReader()
                .text(
                        "x.yml",
                        RULES
                                + correlation(
                                        "many",
                                        "type: event_count\nrules: read\ngroup-by: [user, rows]\n"
                                                + "timespan: 10s\ncondition: {gte: 2}")
                                + correlation(
                                        "sum",
                                        "type: value_sum\nrules: many\ngroup-by: user\ntimespan: 1m\n"
                                                + "condition: {gte: 12, field: rows}"))
                .ruleSet();
        assertThat(rules.errors()).isEmpty();
        engine = new InMemoryCorrelationEngine(rules.correlations(), 0);
        for (String rows : List.of("5", "5", "6", "7", "7")) {
            match("read", ++number, "root", rows);
        }
        assertThat(alerts).singleElement().satisfies(alert -> {
            assertThat(alert.rule().key()).isEqualTo("sum");
            assertThat(alert.metric()).isEqualTo(12);
        });
    }

    private void start(String body) {
        engine = new InMemoryCorrelationEngine(compile(body).correlations(), 5 * SECOND);
    }

    private static RuleSet compile(String body) {
        RuleSet rules = new RuleSetReader()
                .text("x.yml", RULES + correlation("c", body))
                .ruleSet();
        assertThat(rules.errors()).isEmpty();
        return rules;
    }

    private void match(String rule, long second, String user, String rows) {
        engine.match(
                rule, event("e" + ++number, second, user).text("rows", rows).build(), alerts::add);
    }

    private static DetectionEvent.Builder event(String id, long second, String user) {
        return DetectionEvent.builder(id, second * SECOND, LogSource.ANY).text("user", user);
    }

    private int stateBytes() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        engine.write(new DataOutputStream(bytes));
        return bytes.size();
    }

    private void restore(RuleSet rules) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        engine.write(new DataOutputStream(bytes));
        engine = new InMemoryCorrelationEngine(rules.correlations(), 0);
        engine.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    }
}
