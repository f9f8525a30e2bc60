package io.tailrace.flink.ingest;

import io.tailrace.reassembly.CensusRecord;
import io.tailrace.reassembly.LineBlock;
import io.tailrace.reassembly.LogId;

/**
 * The next input of a log, in the order in which its collector sent it: lines or a census record, never both.
 *
 * @param lines null for a census record
 * @param census null for lines
 */
public record LogInput(LineBlock lines, CensusRecord census) {

    static LogInput of(LineBlock lines) {
        return new LogInput(lines, null);
    }

    static LogInput of(CensusRecord census) {
        return new LogInput(null, census);
    }

    /** Returns {@link LogId#toKey} of the log. */
    public String key() {
        return lines != null ? lines.origin().key() : census.key();
    }
}
