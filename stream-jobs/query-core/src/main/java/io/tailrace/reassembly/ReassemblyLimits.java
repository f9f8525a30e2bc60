package io.tailrace.reassembly;

import java.io.Serializable;

/**
 * Limits of reassembly, per log.
 *
 * @param reorderBytes maximum number of bytes that wait to be assigned; beyond it the oldest are assigned immediately
 * @param gapTimeoutMillis timeout after which a hole becomes a gap, processing time
 * @param lineLimitBytes longest line that the collector ships; a larger hole is {@code oversize}
 * @param segmentBytes size of the segments of a file for which a hash is stored; each ends at a line end
 * @param recentBytes number of bytes before the frontier for which the hash of each line is stored
 * @param detectBytes maximum number of bytes of a file's head that are read to detect its format
 * @param edgeBytes maximum number of bytes around a gap that are stored, so that it can be filled without shipping
 *     them again
 * @param retentionMillis period for which an ended file is remembered, so that it is not read twice
 * @param liveGenerations maximum number of files of one log that are read concurrently; beyond it the oldest is ended
 * @param rangeBytes minimum length of a closed signed range, which the hosts that sign use as well
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
        int liveGenerations,
        int rangeBytes)
        implements Serializable {

    private static final int MIB = 1 << 20;
    private static final int RANGE_BYTES = 16_384;

    /** Creates limits with the length of signed ranges that hosts use. */
    public ReassemblyLimits(
            int reorderBytes,
            long gapTimeoutMillis,
            int lineLimitBytes,
            int segmentBytes,
            int recentBytes,
            int detectBytes,
            int edgeBytes,
            long retentionMillis,
            int liveGenerations) {
        this(
                reorderBytes,
                gapTimeoutMillis,
                lineLimitBytes,
                segmentBytes,
                recentBytes,
                detectBytes,
                edgeBytes,
                retentionMillis,
                liveGenerations,
                RANGE_BYTES);
    }

    /** Returns the limits documented in docs/LEDGER.md. */
    public static ReassemblyLimits defaults() {
        return new ReassemblyLimits(
                8 * MIB, 30_000, 16 * MIB, MIB / 16, 16 * MIB, MIB / 16, MIB, 7L * 24 * 3600 * 1000, 16);
    }

    /** Returns these limits with another timeout for holes. */
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
                liveGenerations,
                rangeBytes);
    }
}
