package io.tailrace.detection.detector;

import java.io.DataOutput;
import java.io.IOException;

/** What a detector remembers of one entity. Its size is bounded, whatever is observed: docs/DETECTORS.md. */
public interface DetectorState {

    /** Latest event time that was observed, microseconds since 1970 UTC; Long.MIN_VALUE where nothing was. */
    long latestMicros();

    /** Writes the state, its version first. */
    void write(DataOutput out) throws IOException;
}
