package io.tailrace.detection.detector;

import io.tailrace.detection.event.BoundedText;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * One event of an alert's evidence, in the form that state stores.
 *
 * @param micros event time, microseconds since 1970 UTC
 * @param statement statement without its literals; in state at most 256 characters
 */
public record AlertSample(long micros, String eventId, String statement) {

    /** Returns the observed event with its complete statement. */
    public static AlertSample of(Observation observation) {
        return new AlertSample(observation.micros(), observation.eventId(), observation.statement());
    }

    /** Returns a copy that is short enough for state. */
    public AlertSample shortened() {
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
