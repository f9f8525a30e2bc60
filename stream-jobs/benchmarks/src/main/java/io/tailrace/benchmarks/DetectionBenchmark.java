package io.tailrace.benchmarks;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.index.RulePrefilter;
import io.tailrace.detection.sigma.reader.RuleSetReader;
import io.tailrace.detection.sigma.rule.RuleSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Measures events per second and core through rules whose fields every event has. Half of the rules search for texts
 * in the statement, the others for users, tables, programs and codes. Events are created again for each pass, so that
 * no folded texts are cached.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class DetectionBenchmark {

    private static final int EVENTS = 1000;
    private static final LogSource SOURCE = new LogSource("database", "mysql", "audit");
    private static final List<String> VERBS = List.of("select", "update", "insert", "delete", "grant", "create");

    @Param({"100", "3000"})
    private int rules;

    private RulePrefilter index;
    private RuleSet ruleSet;
    private int matches;

    @Setup
    public void compile() {
        RuleSetReader reader = new RuleSetReader();
        for (int i = 0; i < rules; i++) {
            reader.text("rule" + i, rule(i));
        }
        ruleSet = reader.ruleSet();
        if (!ruleSet.errors().isEmpty()) {
            throw new IllegalStateException(ruleSet.errors().toString());
        }
        index = new RulePrefilter(ruleSet.rules());
        assertSameAsEvaluatingAll();
    }

    private static String rule(int i) {
        String search =
                switch (i % 6) {
                    case 0 -> "statement|contains: ['into outfile', 'load_file(', 'marker" + i + "']\n    verb: SELECT";
                    case 1 -> "statement|contains|all: [' union ', 'column" + i + "']";
                    case 2 -> "user: [admin" + i + ", 'svc" + i + "*']\n    src_ip|cidr: 10." + i % 256 + ".0.0/16";
                    case 3 -> "table: ['secret.t" + i + "', '*.users" + i + "']\n    status: 0";
                    case 4 -> "program|startswith: tool" + i + "\n    rows_sent|gte: 1000";
                    default -> "error_code: " + (2000 + i) + "\n    statement|contains: 'sleep('";
                };
        return "title: rule " + i + "\nlogsource: {category: database}\ndetection:\n  selection:\n    " + search
                + "\n  filter:\n    user: backup\n  condition: selection and not filter\n";
    }

    private static DetectionEvent event(Random random, int number) {
        String verb = VERBS.get(random.nextInt(VERBS.size()));
        int table = random.nextInt(200);
        return DetectionEvent.builder(Integer.toString(number), number, SOURCE)
                .text("user", "app" + random.nextInt(50))
                .text("host", "web" + random.nextInt(20) + ".example.net")
                .text("src_ip", "10." + random.nextInt(256) + ".3.4")
                .text("database", "shop")
                .text("verb", verb.toUpperCase(Locale.ROOT))
                .text("command", "QUERY")
                .text("event_class", "query")
                .texts("table", List.of("shop.orders" + table, "shop.items" + table))
                .text("program", "tool" + random.nextInt(3000))
                .number("status", 0)
                .number("error_code", random.nextInt(4000))
                .number("rows_sent", random.nextInt(2000))
                .text("query_id", Long.toHexString(random.nextLong()))
                .text(
                        "statement",
                        verb + " o.id, o.customer_id, sum(i.price * i.quantity) as total from shop.orders" + table
                                + " o join shop.items" + table + " i on i.order_id = o.id where o.status = ? and"
                                + " o.created_at > ? and i.column" + random.nextInt(4000)
                                + " in (?+) group by o.id order by total desc limit ?")
                .build();
    }

    private void assertSameAsEvaluatingAll() {
        Random random = new Random(7);
        for (int i = 0; i < EVENTS; i++) {
            DetectionEvent event = event(random, i);
            matches = 0;
            index.match(event, rule -> matches++);
            long expected = ruleSet.rules().stream()
                    .filter(rule -> rule.condition().matches(event))
                    .count();
            if (matches != expected) {
                throw new IllegalStateException(matches + " rules match, " + expected + " expected");
            }
        }
    }

    @Benchmark
    @OperationsPerInvocation(EVENTS)
    public void match(Blackhole matched) {
        Random random = new Random(7);
        for (int i = 0; i < EVENTS; i++) {
            index.match(event(random, i), matched::consume);
        }
    }
}
