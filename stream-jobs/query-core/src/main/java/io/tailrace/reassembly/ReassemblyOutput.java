package io.tailrace.reassembly;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.LedgerEntry;

/** Receives what became of a log's bytes. */
public interface ReassemblyOutput {

    /** A complete entry. */
    void entry(FramedEntry entry);

    /** A posting of the ledger, see docs/LEDGER.md. */
    void posting(LedgerEntry posting);

    /** Bytes that became no entry, or, when superseded, have become entries since. */
    void deadLetter(DeadLetter deadLetter);
}
