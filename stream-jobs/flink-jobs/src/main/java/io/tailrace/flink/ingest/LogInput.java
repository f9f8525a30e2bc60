package io.tailrace.flink.ingest;

import io.tailrace.reassembly.CensusRecord;
import io.tailrace.reassembly.LineBlock;
import io.tailrace.reassembly.LogId;

/**
 * What is known of a log next, in the order in which its collector sent it: lines or a census, never both.
 *
 * @param lines null when this is a census
 * @param census null when these are lines
 */
public record LogInput(LineBlock lines, CensusRecord census) {

    static LogInput of(LineBlock lines) {
        return new LogInput(lines, null);
    }

    static LogInput of(CensusRecord census) {
        return new LogInput(null, census);
    }

    /** {@link LogId#toKey} of the log. */
    public String key() {
        return lines != null ? lines.origin().key() : census.key();
    }
}
