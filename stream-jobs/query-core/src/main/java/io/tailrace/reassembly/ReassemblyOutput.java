package io.tailrace.reassembly;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.LedgerEntry;

/** Receives the results of reassembly: entries, postings and dead letters. */
public interface ReassemblyOutput {

    /** Receives a complete entry. */
    void entry(FramedEntry entry);

    /** Receives a posting of the ledger (docs/LEDGER.md). */
    void posting(LedgerEntry posting);

    /** Receives bytes that became no entry or, if superseded, have become entries since. */
    void deadLetter(DeadLetter deadLetter);
}
