package io.tailrace.benchmarks;

import com.sun.management.ThreadMXBean;
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
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.apache.avro.specific.SpecificRecord;

/**
 * Measures the CPU time of each stage from the normalized event to the alert, over the events of logs that are read
 * before: {@code make bench-rules}. The events are repeated, each time for the days after; in the first repetitions most
 * code is not compiled yet. CPU time is that of the thread, so other programs on the machine matter little.
 */
public final class DetectionStages {

    private static final String[] STAGES = {"map", "data classes", "rules and correlations", "detectors"};
    /** Few events, so that they stay in the processor's cache from stage to stage. */
    private static final int BATCH = 50;

    private static final int ADVANCE_EVERY = 20 * BATCH;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final LoggedEvents events;
    private final DetectionEngine rules;
    private final InMemoryDetectorEngine detectors;
    private final DataClassifier classifier;
    private final ActionResolver actions = new ActionResolver(ActionResolver.MAX_ACTIONS);
    private final Writer alerts;
    private final long[] nanos = new long[STAGES.length];
    private final long[] bytes = new long[STAGES.length];
    private long raised;
    private long latestNanos;
    private long latestBytes;

    private DetectionStages(LoggedEvents events, RuleBundle bundle, Writer alerts) {
        this.events = events;
        this.alerts = alerts;
        rules = new DetectionEngine(bundle.rules(), 0);
        detectors = new InMemoryDetectorEngine(bundle.detectors(), 0, () -> Long.MAX_VALUE / 2);
        classifier = new DataClassifier(bundle.dataClasses());
    }

    /**
     * Prints the measurements of each repetition.
     *
     * @param args directory of the rules; directory of the logs; number of rule files, 0: only those of the directory;
     *     repetitions, at most 127; file for all alerts, to compare two versions
     */
    public static void main(String[] args) throws IOException {
        int count = Integer.parseInt(args[2]);
        Map<String, String> files = RuleBundle.files(Path.of(args[0]));
        RuleBundle bundle =
                RuleBundle.of(count == 0 ? files : MutatedRules.of(files, count), new DatabaseFieldMapping());
        if (bundle.isRefused()) {
            throw new IllegalStateException(bundle.errors().toString());
        }
        LoggedEvents events = new LoggedEvents(Path.of(args[1]));
        System.out.printf(
                "%,d events, %,d rules, %d detectors%n",
                events.size(), bundle.rules().rules().size(), bundle.detectors().size());
        try (Writer alerts = Files.newBufferedWriter(Path.of(args[4]))) {
            DetectionStages stages = new DetectionStages(events, bundle, alerts);
            for (int pass = 0; pass < Integer.parseInt(args[3]); pass++) {
                stages.run(pass);
                stages.print(pass, System.out);
            }
        }
    }

    private void run(int pass) {
        Arrays.fill(nanos, 0);
        Arrays.fill(bytes, 0);
        DetectionEvent[] batch = new DetectionEvent[BATCH];
        for (int from = 0; from < events.size(); from += BATCH) {
            int size = Math.min(BATCH, events.size() - from);
            SpecificRecord[] records = new SpecificRecord[size];
            for (int i = 0; i < size; i++) {
                records[i] = events.get(from + i, pass);
            }
            detect(records, batch, from % ADVANCE_EVERY == 0);
        }
    }

    private void detect(SpecificRecord[] records, DetectionEvent[] batch, boolean advances) {
        latestNanos = THREADS.getCurrentThreadCpuTime();
        latestBytes = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
        for (int i = 0; i < records.length; i++) {
            batch[i] = event(records[i]);
        }
        charge(0);
        for (int i = 0; i < records.length; i++) {
            batch[i].actionFrom(actions::of);
            classifier.enrich(batch[i]);
        }
        charge(1);
        for (int i = 0; i < records.length; i++) {
            rules.detect(batch[i], this::raise);
        }
        long now = batch[records.length - 1].micros();
        if (advances) {
            rules.advance(now, this::raise);
        }
        charge(2);
        for (int i = 0; i < records.length; i++) {
            detectors.detect(batch[i], this::raise);
        }
        if (advances) {
            detectors.advance(now);
        }
        charge(3);
    }

    private static DetectionEvent event(SpecificRecord record) {
        if (record instanceof AuditEvent audit) {
            return DatabaseEventMapper.of(audit, audit.getFingerprint());
        }
        return record instanceof QueryEvent query
                ? DatabaseEventMapper.of(query, query.getFingerprint())
                : DatabaseEventMapper.of((ErrorEvent) record);
    }

    private void charge(int stage) {
        long now = THREADS.getCurrentThreadCpuTime();
        long allocated = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
        nanos[stage] += now - latestNanos;
        bytes[stage] += allocated - latestBytes;
        latestNanos = now;
        latestBytes = allocated;
    }

    private void raise(RaisedAlert alert) {
        raised++;
        try {
            alerts.append(alert.toString()).append('\n');
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void print(int pass, PrintStream out) {
        double micros = Arrays.stream(nanos).sum() / 1e3 / events.size();
        StringBuilder line = new StringBuilder(String.format("%3d: %,7.0f events per CPU-second", pass, 1e6 / micros));
        for (int stage = 0; stage < STAGES.length; stage++) {
            line.append(String.format(
                    "; %s %.2f us, %,d bytes",
                    STAGES[stage], nanos[stage] / 1e3 / events.size(), bytes[stage] / events.size()));
        }
        out.println(line.append("; ").append(raised).append(" alerts"));
    }
}
