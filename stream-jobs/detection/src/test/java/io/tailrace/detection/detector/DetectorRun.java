package io.tailrace.detection.detector;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.config.DetectorConfig;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Runs detectors over events of one instance twice: without interruption, and with all state written and read after
 * each event. Both runs must raise the same alerts.
 */
public final class DetectorRun {

    static final Instant NOW = Instant.parse("2026-12-01T00:00:00Z");
    /** A Monday. */
    static final Instant START = Instant.parse("2026-09-07T00:00:00Z");

    private static final Set<String> LISTS = Set.of("table", "table_written", "data_class", "target_user", "flag");

    private final String yaml;
    private final List<RaisedAlert> alerts = new ArrayList<>();
    private final InMemoryDetectorEngine engine;
    private InMemoryDetectorEngine interrupted;
    private int events;

    public DetectorRun(String yaml) {
        this.yaml = yaml;
        this.engine = engine();
        this.interrupted = engine();
    }

    public static DetectorConfig file(String yaml) {
        return DetectorConfig.of("detectors.yaml", yaml, new RuleContext(Map.of(), new DatabaseFieldMapping()));
    }

    private InMemoryDetectorEngine engine() {
        DetectorConfig file = file(yaml);
        assertThat(file.errors()).isEmpty();
        return new InMemoryDetectorEngine(file.detectors(), 0, () -> micros(NOW));
    }

    public static long micros(Instant time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }

    /** Adds an event at a number of hours after the start; fields and values alternate. */
    public DetectorRun at(double hours, String... fields) {
        return event("e" + events, hours, "audit", fields);
    }

    DetectorRun slow(double hours, String... fields) {
        return event("e" + events, hours, "slowlog", fields);
    }

    DetectorRun event(String id, double hours, String service, String... fields) {
        events++;
        detect(() -> build(id, hours, service, fields));
        return this;
    }

    private static DetectionEvent build(String id, double hours, String service, String... fields) {
        long micros = micros(START) + Math.round(hours * 3600) * 1_000_000;
        DetectionEvent.Builder event = DetectionEvent.builder(id, micros, new LogSource("database", "mysql", service))
                .text("instance", "db1")
                .text("event_class", "query")
                .text("outcome", "success");
        for (int i = 0; i < fields.length; i += 2) {
            if (LISTS.contains(fields[i])) {
                event.texts(fields[i], List.of(fields[i + 1].split(",")));
            } else {
                event.text(fields[i], fields[i + 1]);
            }
        }
        return event.build();
    }

    private void detect(Supplier<DetectionEvent> event) {
        int before = alerts.size();
        List<String> inOneGo = new ArrayList<>();
        List<String> afterReading = new ArrayList<>();
        engine.detect(event.get(), alerts::add);
        alerts.subList(before, alerts.size()).forEach(alert -> inOneGo.add(describe(alert)));
        interrupted.detect(event.get(), alert -> afterReading.add(describe(alert)));
        interrupted = restored();
        assertThat(afterReading).as("event " + events).isEqualTo(inOneGo);
    }

    private static String describe(RaisedAlert alert) {
        return alert.rule().name() + alert.id() + alert.metric() + alert.entity() + alert.facts() + alert.eventIds();
    }

    private InMemoryDetectorEngine restored() {
        try {
            InMemoryDetectorEngine restored = engine();
            restored.read(new DataInputStream(new ByteArrayInputStream(state(interrupted))));
            return restored;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] state(InMemoryDetectorEngine engine) {
        try {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            engine.write(new DataOutputStream(bytes));
            return bytes.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    DetectorRun advance(double hours) {
        engine.advance(micros(START) + Math.round(hours * 3600) * 1_000_000);
        interrupted.advance(micros(START) + Math.round(hours * 3600) * 1_000_000);
        return this;
    }

    /** Returns the serialized size of all state, in bytes. */
    int bytes() {
        return state(engine).length;
    }

    int entities() {
        return engine.entities();
    }

    public List<RaisedAlert> alerts() {
        return alerts;
    }

    public RaisedAlert alert() {
        assertThat(alerts).hasSize(1);
        return alerts.get(0);
    }
}
