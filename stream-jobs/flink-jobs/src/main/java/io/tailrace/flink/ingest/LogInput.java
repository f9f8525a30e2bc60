package io.tailrace.flink.ingest;

import io.tailrace.event.SignedRange;
import io.tailrace.reassembly.CensusRecord;
import io.tailrace.reassembly.LineBlock;
import io.tailrace.reassembly.LogId;

/**
 * The next input of a log, in the order in which its collector sent it: lines, a census record, or a signed range
 * in no order with them.
 *
 * @param lines null for the others
 * @param census null for the others
 * @param signed with a valid signature; null for the others
 */
public record LogInput(LineBlock lines, CensusRecord census, SignedRange signed) {

    static LogInput of(LineBlock lines) {
        return new LogInput(lines, null, null);
    }

    static LogInput of(CensusRecord census) {
        return new LogInput(null, census, null);
    }

    /** Returns a signed range as an input of its log. */
    public static LogInput of(SignedRange signed) {
        return new LogInput(null, null, signed);
    }

    /** Returns {@link LogId#toKey} of the log. */
    public String key() {
        if (lines != null) {
            return lines.origin().key();
        }
        return census != null
                ? census.key()
                : LogId.of(signed.getInstance(), signed.getSource(), signed.getPath())
                        .toKey();
    }
}
