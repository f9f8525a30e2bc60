package io.tailrace.detection.detector;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.testing.PropertyTestBudget;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Compares the engine, which visits only entities that are due, with one that visits every entity each time. */
class DetectorExpiryTest {

    private static final String DETECTORS =
            """
            first_seen_host: {learning: 1h, ttl: 3h}
            dormant_account: {inactivity: 2h, ttl: 4h}
            off_hours: {weeks: 2, ttl: 5h}
            login_after_guessing: {min_amount: 2, ttl: 2h}
            concurrent_networks: {learning: 1h, within: 2h, ttl: 3h}
            volume_statements: {learning: 1h, deviations: 1, min_amount: 2, hours: 3, seasonal_hours: 3, ttl: 6h}
            """;

    private static final long MINUTE = 60_000_000;
    private static final long LATENESS = 5 * MINUTE;
    private static final int STEPS = 250;

    /** The definition: every entity is visited. */
    private static final class EveryEntity {

        private final Map<StatefulDetector, Map<List<String>, DetectorState>> states = new LinkedHashMap<>();
        private long watermark = Long.MIN_VALUE / 2;

        EveryEntity() {
            DetectorRun.file(DETECTORS).detectors().forEach(detector -> states.put(detector, new LinkedHashMap<>()));
        }

        void detect(DetectionEvent event, Consumer<RaisedAlert> alerts) {
            states.forEach((detector, entities) -> detector.observe(event, observation -> {
                DetectorState state = entities.get(observation.entity());
                if (state == null || detector.isForgotten(state, observation.micros())) {
                    state = detector.newState();
                    entities.put(observation.entity(), state);
                }
                boolean late = observation.micros() < watermark - LATENESS;
                detector.update(state, late ? observation.asLate() : observation, alerts);
            }));
        }

        int advance(long micros) {
            int before = size();
            if (micros > watermark) {
                watermark = micros;
                states.forEach((detector, entities) ->
                        entities.values().removeIf(state -> detector.isForgotten(state, micros)));
            }
            return before - size();
        }

        private int size() {
            return states.values().stream().mapToInt(Map::size).sum();
        }

        /** As {@link InMemoryDetectorEngine#read}: new detectors, because some do not repeat recent observations. */
        EveryEntity restored() throws IOException {
            EveryEntity restored = new EveryEntity();
            restored.watermark = watermark;
            Iterator<Map<List<String>, DetectorState>> written = states.values().iterator();
            for (Map.Entry<StatefulDetector, Map<List<String>, DetectorState>> read : restored.states.entrySet()) {
                for (Map.Entry<List<String>, DetectorState> entity :
                        written.next().entrySet()) {
                    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                    entity.getValue().write(new DataOutputStream(bytes));
                    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes.toByteArray()));
                    read.getValue().put(entity.getKey(), read.getKey().readState(in));
                }
            }
            return restored;
        }

        byte[] state() throws IOException {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(bytes);
            out.writeLong(watermark);
            out.writeInt(size());
            for (Map.Entry<StatefulDetector, Map<List<String>, DetectorState>> detector : states.entrySet()) {
                for (Map.Entry<List<String>, DetectorState> entity :
                        detector.getValue().entrySet()) {
                    out.writeUTF(detector.getKey().key());
                    out.writeInt(entity.getKey().size());
                    for (String part : entity.getKey()) {
                        out.writeUTF(part);
                    }
                    entity.getValue().write(out);
                }
            }
            return bytes.toByteArray();
        }
    }

    @Test
    void alertsAndStateEqualThoseOfAnEngineThatVisitsEveryEntity() throws IOException {
        int forgotten = 0;
        for (int seed = 0; seed < PropertyTestBudget.of(10, 200); seed++) {
            forgotten += compare(new Random(seed), "seed " + seed);
        }
        assertThat(forgotten).isPositive();
    }

    private static int compare(Random random, String as) throws IOException {
        List<RaisedAlert> expected = new ArrayList<>();
        List<RaisedAlert> alerts = new ArrayList<>();
        EveryEntity every = new EveryEntity();
        InMemoryDetectorEngine engine = engine();
        int forgotten = 0;
        long now = DetectorRun.micros(DetectorRun.START);
        for (int step = 0; step < STEPS; step++) {
            now += random.nextInt(25) == 0 ? random.nextInt(400) * MINUTE : random.nextInt(5) * MINUTE;
            if (random.nextInt(5) == 0) {
                long watermark = now - random.nextInt(3) * MINUTE;
                forgotten += every.advance(watermark);
                engine.advance(watermark);
            } else {
                long micros = random.nextInt(4) == 0 ? now - random.nextInt(500) * MINUTE : now;
                long seed = random.nextLong();
                every.detect(event(new Random(seed), micros), expected::add);
                engine.detect(event(new Random(seed), micros), alerts::add);
            }
            byte[] state = state(engine);
            assertThat(alerts).as("%s, step %d", as, step).isEqualTo(expected);
            assertThat(state).as("%s, step %d", as, step).isEqualTo(every.state());
            if (random.nextInt(20) == 0) {
                engine = engine();
                engine.read(new DataInputStream(new ByteArrayInputStream(state)));
                every = every.restored();
            }
        }
        return forgotten;
    }

    private static InMemoryDetectorEngine engine() {
        return new InMemoryDetectorEngine(
                DetectorRun.file(DETECTORS).detectors(), LATENESS, () -> DetectorRun.micros(DetectorRun.NOW));
    }

    private static DetectionEvent event(Random random, long micros) {
        boolean login = random.nextInt(3) == 0;
        return DetectionEvent.builder("e" + random.nextInt(10_000), micros, new LogSource("database", "mysql", "audit"))
                .text("instance", "db1")
                .text("user", "u" + random.nextInt(6))
                .text("src_ip", "10.0." + random.nextInt(3) + ".1")
                .text("event_class", login ? "connection" : "query")
                .text("command", login ? "connect" : "query")
                .text("outcome", random.nextInt(3) == 0 ? "failure" : "success")
                .text("statement", "select ?")
                .build();
    }

    private static byte[] state(InMemoryDetectorEngine engine) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        engine.write(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }
}
