package io.tailrace.detection.detector;

import io.tailrace.detection.event.BoundedText;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * One event of an alert's evidence, as state keeps it.
 *
 * @param micros event time, microseconds since 1970 UTC
 * @param statement without its literals; in state at most 256 characters
 */
public record AlertSample(long micros, String eventId, String statement) {

    /** The event that was just observed, with all of its statement. */
    public static AlertSample of(Observation observation) {
        return new AlertSample(observation.micros(), observation.eventId(), observation.statement());
    }

    /** The same, as short as state wants it. */
    public AlertSample kept() {
        return new AlertSample(micros, BoundedText.of(eventId), BoundedText.of(statement));
    }

    public void write(DataOutput out) throws IOException {
        out.writeLong(micros);
        out.writeUTF(eventId);
        out.writeUTF(statement);
    }

    public static AlertSample read(DataInput in) throws IOException {
        return new AlertSample(in.readLong(), in.readUTF(), in.readUTF());
    }
}
