package io.tailrace.reassembly.generation;

import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import io.tailrace.reassembly.ledger.LedgerWriter;
import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateWriter;

/** The frontier of a generation in the ledger. A new one is posted if it has moved, at most once per second. */
final class PostedFrontier {

    private static final long INTERVAL_MILLIS = 1000;

    private long accounted = -1;
    private long frontier = -1;
    private long inode;
    private long postedAt;

    boolean hasMoved(LineReader reader, FileStatus file) {
        return frontier != reader.frontier() || accounted != reader.accounted() || inode != file.inode();
    }

    /** Posts the frontier if it has moved and the last posting is at least one second old; returns whether it did. */
    boolean post(LedgerWriter ledger, long generation, LineReader reader, FileStatus file, long now) {
        if (!hasMoved(reader, file) || now - postedAt < INTERVAL_MILLIS) {
            return false;
        }
        postedAt = now;
        frontier = reader.frontier();
        accounted = reader.accounted();
        inode = file.inode();
        LedgerEntry row = ledger.row(generation, PostingKind.FRONTIER, "", accounted, frontier);
        row.setSize(file.size());
        row.setInode(inode);
        ledger.post(row);
        return true;
    }

    void save(StateWriter out) {
        out.number(accounted);
        out.number(frontier);
        out.number(inode);
        out.number(postedAt);
    }

    void restore(StateReader in) {
        accounted = in.number();
        frontier = in.number();
        inode = in.number();
        postedAt = in.number();
    }
}
