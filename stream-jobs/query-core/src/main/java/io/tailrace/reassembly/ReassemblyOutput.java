package io.tailrace.reassembly;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.SignedRange;

/** Receives the results of reassembly: entries, postings and dead letters. */
public interface ReassemblyOutput {

    /** Receives a complete entry. */
    void entry(FramedEntry entry);

    /** Receives a posting of the ledger (docs/LEDGER.md). */
    void posting(LedgerEntry posting);

    /** Receives bytes that became no entry or, if superseded, have become entries since. */
    void deadLetter(DeadLetter deadLetter);

    /** Receives the result of comparing a signed range with the bytes that arrived. */
    default void signedRange(SignedRange range) {
        // Files that are read on the command line have no signed ranges.
    }
}
