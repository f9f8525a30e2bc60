package io.tailrace.reassembly;

import java.io.Serializable;

/**
 * Bounds of reassembly, for each log.
 *
 * @param reorderBytes most bytes that wait for a decision; beyond it the oldest is decided at once
 * @param gapTimeoutMillis how long a hole is waited for, processing time
 * @param lineLimitBytes longest line that the collector ships; a larger hole is {@code oversize}
 * @param segmentBytes a hash is kept for each such piece of a file, ended at a line end
 * @param recentBytes a hash of each line is kept for so much before the frontier
 * @param detectBytes how much of a file's head may be read to find its format
 * @param edgeBytes most bytes kept beside a gap so that it can be filled without shipping its edges again
 * @param retentionMillis how long an ended file is remembered, so that it is not read twice
 * @param liveGenerations most files of one log that are read side by side; beyond it the oldest is ended
 */
public record ReassemblyLimits(
        int reorderBytes,
        long gapTimeoutMillis,
        int lineLimitBytes,
        int segmentBytes,
        int recentBytes,
        int detectBytes,
        int edgeBytes,
        long retentionMillis,
        int liveGenerations)
        implements Serializable {

    private static final int MIB = 1 << 20;

    /** The limits documented in docs/LEDGER.md. */
    public static ReassemblyLimits defaults() {
        return new ReassemblyLimits(
                8 * MIB, 30_000, 16 * MIB, MIB / 16, 16 * MIB, MIB / 16, MIB, 7L * 24 * 3600 * 1000, 16);
    }

    /** These limits with another time to wait for a hole. */
    public ReassemblyLimits withGapTimeout(long millis) {
        return new ReassemblyLimits(
                reorderBytes,
                millis,
                lineLimitBytes,
                segmentBytes,
                recentBytes,
                detectBytes,
                edgeBytes,
                retentionMillis,
                liveGenerations);
    }
}
