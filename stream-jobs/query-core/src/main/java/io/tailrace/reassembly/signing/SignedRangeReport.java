package io.tailrace.reassembly.signing;

import io.tailrace.event.SignedRange;
import io.tailrace.reassembly.ReassemblyOutput;
import java.time.Instant;

/** Writes the result of a signed range. */
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

    void verified(SignedRange range, long generation) {
        report(range, generation, "verified", "");
    }

    void mismatch(SignedRange range, long generation, String reason) {
        report(range, generation, "mismatch", reason);
    }

    void incomplete(SignedRange range, long generation, String reason) {
        report(range, generation, "incomplete", reason);
    }

    void superseded(SignedRange range, long generation) {
        report(range, generation, "superseded", "more of the file had arrived");
    }

    void unverified(SignedRange range, String reason) {
        report(range, 0, "unverified", reason);
    }

    /** A wrong chain remains the status unless the bytes differ as well; the reason contains both. */
    private void report(SignedRange range, long generation, String status, String reason) {
        SignedRange row = SignedRange.newBuilder(range).build();
        boolean broken = range.getStatus().equals(BROKEN_CHAIN) && !status.equals("mismatch");
        String found = range.getReason().isEmpty() || reason.isEmpty() ? reason : "; " + reason;
        row.setGeneration(generation);
        row.setStatus(broken ? BROKEN_CHAIN : status);
        row.setReason(range.getReason() + found);
        row.setVerifiedAt(now);
        output.signedRange(row);
    }
}
