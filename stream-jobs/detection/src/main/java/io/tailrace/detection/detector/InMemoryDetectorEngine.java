package io.tailrace.detection.detector;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.DetectionEvent;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** Runs stateful detectors with the state of all entities in memory. Not thread-safe. */
public final class InMemoryDetectorEngine {

    private final Map<String, StatefulDetector> detectors = new LinkedHashMap<>();
    private final Map<String, Map<List<String>, DetectorState>> states = new HashMap<>();
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
            this.detectors.put(detector.key(), detector);
            states.put(detector.key(), new LinkedHashMap<>());
        }
    }

    /** Passes an event to all detectors, unless it is in the future because a clock was wrong. */
    public void detect(DetectionEvent event, Consumer<RaisedAlert> alerts) {
        if (StatefulDetector.isInFuture(event.micros(), nowMicros.getAsLong())) {
            return;
        }
        for (StatefulDetector detector : detectors.values()) {
            detector.observe(event, observation -> update(detector, observation, alerts));
        }
    }

    private void update(StatefulDetector detector, Observation observation, Consumer<RaisedAlert> alerts) {
        boolean late = observation.micros() < watermark - latenessMicros;
        Map<List<String>, DetectorState> ofDetector = states.get(detector.key());
        DetectorState state = ofDetector.get(observation.entity());
        if (state == null || detector.isForgotten(state, observation.micros())) {
            state = detector.newState();
            ofDetector.put(observation.entity(), state);
        }
        detector.update(state, late ? observation.asLate() : observation, alerts);
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
        detectors.forEach(
                (key, detector) -> states.get(key).values().removeIf(state -> detector.isForgotten(state, micros)));
    }

    /** Returns the number of entities with state, over all detectors. */
    public int entities() {
        return states.values().stream().mapToInt(Map::size).sum();
    }

    /** Writes the state of all entities. */
    public void write(DataOutput out) throws IOException {
        out.writeLong(watermark);
        out.writeInt(entities());
        for (String key : detectors.keySet()) {
            for (Map.Entry<List<String>, DetectorState> state : states.get(key).entrySet()) {
                out.writeUTF(key);
                out.writeInt(state.getKey().size());
                for (String part : state.getKey()) {
                    out.writeUTF(part);
                }
                state.getValue().write(out);
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
            List<String> entity = new ArrayList<>();
            for (int parts = in.readInt(); parts > 0; parts--) {
                entity.add(in.readUTF());
            }
            StatefulDetector detector = detectors.get(key);
            if (detector == null) {
                throw new IOException("the state contains a detector that is not configured: " + key);
            }
            states.get(key).put(List.copyOf(entity), detector.readState(in));
        }
    }
}
