package io.tailrace.detection.detector;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** The state of a detector for one entity. Its size is bounded for any input: docs/DETECTORS.md. */
public interface DetectorState {

    /** Returns the latest observed event time, in microseconds since 1970 UTC; Long.MIN_VALUE if there is none. */
    long latestMicros();

    /** Writes the state, beginning with its version. */
    void write(DataOutput out) throws IOException;

    /**
     * Reads the output of {@link #write} into a new state.
     *
     * @throws IOException if the version is not supported
     */
    void read(DataInput in) throws IOException;
}
