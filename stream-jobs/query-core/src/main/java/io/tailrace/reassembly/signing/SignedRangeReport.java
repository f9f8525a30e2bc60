package io.tailrace.reassembly.signing;

import io.tailrace.event.SignedRange;
import io.tailrace.reassembly.ReassemblyOutput;
import java.time.Instant;
import java.util.List;

/** Writes the result of the ranges of a record that follow each other. */
public final class SignedRangeReport {

    /** Status of a range whose place in the chain of its host is wrong, also if its bytes are as signed. */
    static final String BROKEN_CHAIN = "broken_chain";

    private final ReassemblyOutput output;
    private Instant now = Instant.EPOCH;

    public SignedRangeReport(ReassemblyOutput output) {
        this.output = output;
    }

    public void at(long epochMillis) {
        now = Instant.ofEpochMilli(epochMillis);
    }

    void verified(SignedRange record, List<SignedPart> ranges, long generation) {
        report(record, ranges, generation, "verified", "");
    }

    void mismatch(SignedRange record, List<SignedPart> ranges, long generation, String reason) {
        report(record, ranges, generation, "mismatch", reason);
    }

    void incomplete(SignedRange record, List<SignedPart> ranges, long generation, String reason) {
        report(record, ranges, generation, "incomplete", reason);
    }

    void superseded(SignedRange record, List<SignedPart> ranges, long generation) {
        report(record, ranges, generation, "superseded", "more of the file had arrived");
    }

    void unverified(SignedRange record, List<SignedPart> ranges, String reason) {
        report(record, ranges, 0, "unverified", reason);
    }

    /** A wrong chain remains the status unless the bytes differ as well; the reason contains both. */
    private void report(SignedRange record, List<SignedPart> ranges, long generation, String status, String reason) {
        SignedRange row = SignedPart.record(record, ranges);
        boolean broken = record.getStatus().equals(BROKEN_CHAIN) && !status.equals("mismatch");
        String found = record.getReason().isEmpty() || reason.isEmpty() ? reason : "; " + reason;
        row.setEarlierRanges("");
        row.setGeneration(generation);
        row.setStatus(broken ? BROKEN_CHAIN : status);
        row.setReason(record.getReason() + found);
        row.setVerifiedAt(now);
        output.signedRange(row);
    }
}
