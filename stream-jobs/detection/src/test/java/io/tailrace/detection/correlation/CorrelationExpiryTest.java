package io.tailrace.detection.correlation;

import static io.tailrace.detection.sigma.reader.RuleText.correlation;
import static io.tailrace.detection.sigma.reader.RuleText.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.ActionReference;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.reader.RuleSetReader;
import io.tailrace.detection.sigma.rule.CorrelationRule;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.testing.PropertyTestBudget;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Compares the engine, which visits only groups that are due, with one that advances every group each time. */
class CorrelationExpiryTest {

    private static final long SECOND = 1_000_000;
    private static final long LATENESS = 5 * SECOND;
    private static final int STEPS = 200;

    private static final List<CorrelationRule> RULES = rules(named("fail", "a: fail")
            + named("login", "a: login")
            + correlation("many", "type: event_count\nrules: fail\ngroup-by: user\ntimespan: 10s\ncondition: {gte: 3}")
            + correlation(
                    "first",
                    "type: value_count\nrules: fail\ngroup-by: user\ntimespan: 60s\n"
                            + "condition: {gte: 1, field: rows}")
            + correlation("few", "type: event_count\nrules: login\ngroup-by: user\ntimespan: 20s\ncondition: {lt: 3}")
            + correlation(
                    "mean",
                    "type: value_avg\nrules: fail\ngroup-by: user\ntimespan: 20s\n"
                            + "condition: {gte: 4, field: rows}")
            + correlation("sum", "type: value_sum\nrules: login\ntimespan: 30s\ncondition: {gt: 9, field: rows}")
            + correlation("both", "type: temporal\nrules: [many, login]\ngroup-by: user\ntimespan: 30s")
            + correlation(
                    "late",
                    "type: event_count\nrules: [few, mean]\ngroup-by: user\ntimespan: 40s\n" + "condition: {gte: 2}"));

    /** The definition: every group is visited. */
    private static final class EveryGroup {

        private final Map<CorrelationEvaluator, Map<List<String>, GroupWindow>> windows = new LinkedHashMap<>();
        private long watermark = Long.MIN_VALUE / 2;

        EveryGroup() {
            RULES.forEach(rule -> windows.put(new CorrelationEvaluator(rule, LATENESS), new LinkedHashMap<>()));
        }

        void match(String rule, DetectionEvent event, Consumer<RaisedAlert> alerts) {
            windows.forEach((evaluator, groups) -> {
                if (evaluator.rule().rules().contains(rule)) {
                    for (List<String> group : evaluator.groups(rule, event)) {
                        GroupWindow window = groups.computeIfAbsent(group, key -> new GroupWindow());
                        evaluator.add(rule, event, group, window, watermark, fired(evaluator, alerts));
                    }
                }
            });
        }

        private Consumer<RaisedAlert> fired(CorrelationEvaluator evaluator, Consumer<RaisedAlert> alerts) {
            return alert -> {
                boolean isRaised = evaluator.rule().alerts();
                if (isRaised) {
                    alerts.accept(alert);
                }
                DetectionEvent.Builder event =
                        DetectionEvent.builder(alert.evidenceId(isRaised), alert.micros(), LogSource.ANY);
                alert.entity().forEach(event::text);
                DetectionEvent match = event.build();
                match.actionFrom(each -> new ActionReference(alert.id(), alert.micros(), 0));
                match(evaluator.rule().header().key(), match, alerts);
            };
        }

        void advance(long micros, Consumer<RaisedAlert> alerts) {
            if (micros > watermark) {
                watermark = micros;
                windows.forEach((evaluator, groups) -> groups.entrySet()
                        .removeIf(group ->
                                evaluator.advance(group.getKey(), group.getValue(), micros, fired(evaluator, alerts))));
            }
        }

        byte[] state() throws IOException {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(bytes);
            out.writeLong(watermark);
            out.writeInt(windows.values().stream().mapToInt(Map::size).sum());
            for (Map.Entry<CorrelationEvaluator, Map<List<String>, GroupWindow>> rule : windows.entrySet()) {
                for (Map.Entry<List<String>, GroupWindow> group :
                        rule.getValue().entrySet()) {
                    out.writeUTF(rule.getKey().rule().header().key());
                    out.writeInt(group.getKey().size());
                    for (String value : group.getKey()) {
                        out.writeUTF(value);
                    }
                    group.getValue().write(out);
                }
            }
            return bytes.toByteArray();
        }
    }

    @Test
    void alertsAndStateEqualThoseOfAnEngineThatVisitsEveryGroup() throws IOException {
        long alerts = 0;
        for (int seed = 0; seed < PropertyTestBudget.of(40, 1_000); seed++) {
            alerts += compare(new Random(seed), "seed " + seed);
        }
        assertThat(alerts).isPositive();
    }

    private static int compare(Random random, String as) throws IOException {
        List<RaisedAlert> expected = new ArrayList<>();
        List<RaisedAlert> alerts = new ArrayList<>();
        EveryGroup every = new EveryGroup();
        InMemoryCorrelationEngine engine = new InMemoryCorrelationEngine(RULES, LATENESS);
        long now = 100;
        for (int step = 0; step < STEPS; step++) {
            now += random.nextInt(3) == 0 ? random.nextInt(4) : 0;
            now += random.nextInt(40) == 0 ? random.nextInt(300) : 0;
            if (random.nextInt(4) == 0) {
                long watermark = (now - random.nextInt(4)) * SECOND;
                every.advance(watermark, expected::add);
                engine.advance(watermark, alerts::add);
            } else {
                DetectionEvent event = event(random, now);
                String rule = random.nextBoolean() ? "fail" : "login";
                every.match(rule, event, expected::add);
                engine.match(rule, event, alerts::add);
            }
            byte[] state = state(engine);
            assertThat(alerts).as("%s, step %d", as, step).isEqualTo(expected);
            assertThat(state).as("%s, step %d", as, step).isEqualTo(every.state());
            if (random.nextInt(20) == 0) {
                engine = new InMemoryCorrelationEngine(RULES, LATENESS);
                engine.read(new DataInputStream(new ByteArrayInputStream(state)));
            }
        }
        return alerts.size();
    }

    /** A quarter of the events are late; some have no number to sum up. */
    private static DetectionEvent event(Random random, long now) {
        long second = random.nextInt(4) == 0 ? now - random.nextInt(100) : now + random.nextInt(3);
        return DetectionEvent.builder("e" + random.nextInt(10_000), second * SECOND, LogSource.ANY)
                .text("user", "u" + random.nextInt(4))
                .text("rows", random.nextInt(5) == 0 ? "none" : Integer.toString(random.nextInt(8)))
                .build();
    }

    private static byte[] state(InMemoryCorrelationEngine engine) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        engine.write(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }

    private static List<CorrelationRule> rules(String yaml) {
        RuleSet rules = new RuleSetReader().text("x.yml", yaml).ruleSet();
        assertThat(rules.errors()).isEmpty();
        return rules.correlations();
    }
}
