package io.tailrace.benchmarks;

import io.tailrace.detection.DetectionEngine;
import io.tailrace.detection.action.ActionResolver;
import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.bundle.RuleBundle;
import io.tailrace.detection.dataclass.DataClassifier;
import io.tailrace.detection.detector.InMemoryDetectorEngine;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.taxonomy.DatabaseEventMapper;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.EventId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Measures events per second and core through everything that the repository publishes: rules, correlations,
 * detectors and data classes, from the normalized event to the alert. The workload is an ordinary application: twenty
 * users read thirty tables with a thousand statements in each second of event time, so that every window and every
 * detector's state is full.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class RulePackBenchmark {

    /** Directory of the rules; {@code make bench-core} runs at the repository's root. */
    private static final Path RULES = Path.of(System.getProperty("tailrace.rules", "rules"));

    private static final int EVENTS = 1000;
    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final Instant START = Instant.parse("2026-03-02T08:00:00Z");

    private final List<AuditEvent> statements = new ArrayList<>(EVENTS);
    private final ActionResolver actions = new ActionResolver(10_000);
    private DetectionEngine rules;
    private InMemoryDetectorEngine detectors;
    private DataClassifier classifier;
    private long seconds;

    @Setup
    public void compile() throws IOException {
        RuleBundle bundle = RuleBundle.of(RuleBundle.files(RULES), new DatabaseFieldMapping());
        if (bundle.isRefused()) {
            throw new IllegalStateException(bundle.errors().toString());
        }
        rules = new DetectionEngine(bundle.rules(), 0);
        detectors = new InMemoryDetectorEngine(bundle.detectors(), 0, () -> Long.MAX_VALUE / 2);
        classifier = new DataClassifier(bundle.dataClasses());
        Random random = new Random(7);
        for (int i = 0; i < EVENTS; i++) {
            statements.add(statement(i, random));
        }
    }

    private static AuditEvent statement(int number, Random random) {
        String table = "orders" + random.nextInt(30);
        int user = random.nextInt(20);
        String fingerprint = "select o.id, o.status, o.created_at from " + table
                + " o where o.customer_id = ? and o.created_at > ? order by o.created_at desc limit ?";
        return AuditEvent.newBuilder()
                .setEventId(new EventId(new byte[EventIds.LENGTH]))
                .setCluster("shop")
                .setInstance("db1")
                .setSource("audit")
                .setLog("/var/log/mysql/audit.log")
                .setGeneration(1)
                .setEntryOffset(number)
                .setEntryBytes(200)
                .setFormat("mariadb-server-audit")
                .setEventTime(START)
                .setEventClass("query")
                .setCommand("QUERY")
                .setCommandClass("")
                .setConnectionId(100 + user * 5 + random.nextInt(5))
                .setServerQueryId(number)
                .setUser("app" + user)
                .setPrivUser("")
                .setProxyUser("")
                .setOsUser("")
                .setHost("10.0.0." + user)
                .setIp("10.0.0." + user)
                .setDatabase("shop")
                .setObject(fingerprint)
                .setQueryId((long) table.hashCode() << 20)
                .setRuleSet("")
                .setVerb("SELECT")
                .setEventName("")
                .setRecordId("")
                .setConnectionType("")
                .setTablesRead(List.of(table))
                .setTablesBasis("statement")
                .setProgramName("")
                .setServerVersion("")
                .setTraceId("")
                .setSpanId("")
                .setFingerprint(fingerprint)
                .build();
    }

    /** Processes one second of event time. */
    @Benchmark
    @OperationsPerInvocation(EVENTS)
    public void evaluate(Blackhole alerts) {
        Consumer<RaisedAlert> raised = alerts::consume;
        seconds++;
        for (int i = 0; i < EVENTS; i++) {
            AuditEvent statement = statements.get(i);
            EventIds.number(statement.getEventId(), seconds * EVENTS + i);
            statement.setEventTime(START.plus(seconds * MICROS_PER_SECOND + i * 1000L, ChronoUnit.MICROS));
            evaluate(DatabaseEventMapper.of(statement, statement.getFingerprint()), raised);
        }
        long now = ChronoUnit.MICROS.between(Instant.EPOCH, START) + seconds * MICROS_PER_SECOND;
        rules.advance(now, raised);
        detectors.advance(now);
    }

    private void evaluate(DetectionEvent event, Consumer<RaisedAlert> alerts) {
        event.actionFrom(actions::of);
        classifier.enrich(event);
        rules.detect(event, alerts);
        detectors.detect(event, alerts);
    }

    /** Creates ids that differ from event to event. */
    private static final class EventIds {

        private static final int LENGTH = 16;

        static void number(EventId id, long number) {
            ByteBuffer.wrap(id.bytes()).putLong(Long.BYTES, number);
        }
    }
}
