package io.tailrace.detection.detector;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.expiry.ExpiryQueue;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** Runs stateful detectors with the state of all entities in memory. Not thread-safe. */
public final class InMemoryDetectorEngine {

    /** An entity of a detector with its state. */
    private static final class Entity extends ExpiryQueue.Item {

        private final List<String> values;
        private DetectorState state;

        Entity(List<String> values, DetectorState state) {
            this.values = values;
            this.state = state;
        }
    }

    /** The entities of a detector. */
    private static final class Entities {

        private final StatefulDetector detector;
        private final Map<List<String>, Entity> states = new LinkedHashMap<>();
        private final ExpiryQueue<Entity> expiring = new ExpiryQueue<>();

        Entities(StatefulDetector detector) {
            this.detector = detector;
        }

        /** An entity is due when the latest time that is known now expires; by then, there may be a later one. */
        void schedule(Entity entity) {
            long latest = entity.state.latestMicros();
            if (latest != Long.MIN_VALUE) {
                expiring.schedule(entity, latest + detector.ttlMicros());
            }
        }

        void update(Observation observation, Consumer<RaisedAlert> alerts) {
            Entity entity =
                    states.computeIfAbsent(observation.entity(), values -> new Entity(values, detector.newState()));
            if (detector.isForgotten(entity.state, observation.micros())) {
                entity.state = detector.newState();
            }
            detector.update(entity.state, observation, alerts);
            schedule(entity);
        }

        void forget(long watermark) {
            for (Entity due = expiring.pollBefore(watermark); due != null; due = expiring.pollBefore(watermark)) {
                if (detector.isForgotten(due.state, watermark)) {
                    states.remove(due.values, due);
                } else {
                    schedule(due);
                }
            }
        }
    }

    private final Map<String, Entities> detectors = new LinkedHashMap<>();
    private final long latenessMicros;
    private final LongSupplier nowMicros;
    private long watermark = Long.MIN_VALUE / 2;

    /**
     * Creates an engine without state.
     *
     * @param latenessMicros by how many microseconds an event may be behind the watermark without being late
     * @param nowMicros a trustworthy clock, microseconds since 1970 UTC
     */
    public InMemoryDetectorEngine(List<StatefulDetector> detectors, long latenessMicros, LongSupplier nowMicros) {
        this.nowMicros = nowMicros;
        this.latenessMicros = latenessMicros;
        for (StatefulDetector detector : detectors) {
            this.detectors.put(detector.key(), new Entities(detector));
        }
    }

    /** Passes an event to all detectors, unless it is in the future because a clock was wrong. */
    public void detect(DetectionEvent event, Consumer<RaisedAlert> alerts) {
        if (StatefulDetector.isInFuture(event.micros(), nowMicros.getAsLong())) {
            return;
        }
        for (Entities entities : detectors.values()) {
            entities.detector.observe(event, observation -> {
                boolean late = observation.micros() < watermark - latenessMicros;
                entities.update(late ? observation.asLate() : observation, alerts);
            });
        }
    }

    /**
     * Advances the watermark: all events up to this time are expected to have arrived. Forgets entities without events.
     *
     * @param micros event time, microseconds since 1970 UTC; a smaller value than before changes nothing
     */
    public void advance(long micros) {
        if (micros <= watermark) {
            return;
        }
        watermark = micros;
        detectors.values().forEach(entities -> entities.forget(micros));
    }

    /** Returns the number of entities with state, over all detectors. */
    public int entities() {
        return detectors.values().stream()
                .mapToInt(entities -> entities.states.size())
                .sum();
    }

    /** Writes the state of all entities. */
    public void write(DataOutput out) throws IOException {
        out.writeLong(watermark);
        out.writeInt(entities());
        for (Map.Entry<String, Entities> entities : detectors.entrySet()) {
            for (Entity entity : entities.getValue().states.values()) {
                out.writeUTF(entities.getKey());
                out.writeInt(entity.values.size());
                for (String part : entity.values) {
                    out.writeUTF(part);
                }
                entity.state.write(out);
            }
        }
    }

    /**
     * Reads the output of {@link #write} into a new engine of the same detectors. Throws IOException if a detector is
     * missing, because only that detector can read its state.
     */
    public void read(DataInput in) throws IOException {
        watermark = in.readLong();
        for (int count = in.readInt(); count > 0; count--) {
            String key = in.readUTF();
            List<String> values = new ArrayList<>();
            for (int parts = in.readInt(); parts > 0; parts--) {
                values.add(in.readUTF());
            }
            Entities entities = detectors.get(key);
            if (entities == null) {
                throw new IOException("the state contains a detector that is not configured: " + key);
            }
            Entity entity = new Entity(List.copyOf(values), entities.detector.readState(in));
            entities.states.put(entity.values, entity);
            entities.schedule(entity);
        }
    }
}
