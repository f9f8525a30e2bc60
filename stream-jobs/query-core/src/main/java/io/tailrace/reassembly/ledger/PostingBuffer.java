package io.tailrace.reassembly.ledger;

import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import java.util.ArrayList;
import java.util.List;

/** Buffers the postings of one generation; adjoining ranges of the same kind become one row. */
public final class PostingBuffer {

    private static final class Run {
        private final PostingKind kind;
        private final String detail;
        private final long from;
        private long to;
        private long count;
        private long bytes;

        private Run(PostingKind kind, String detail, long from) {
            this.kind = kind;
            this.detail = detail;
            this.from = from;
            this.to = from;
        }

        private boolean takes(PostingKind other, String otherDetail, long otherFrom) {
            return kind == other && to == otherFrom && bytes >= 0 && detail.equals(otherDetail);
        }
    }

    private final List<Run> runs = new ArrayList<>();

    /** Posts the bytes {@code [from, to)} as {@code count} items of that kind. */
    public void add(PostingKind kind, String detail, long from, long to, long count) {
        Run last = runs.isEmpty() ? null : runs.get(runs.size() - 1);
        if (last == null || !last.takes(kind, detail, from)) {
            last = new Run(kind, detail, from);
            runs.add(last);
        }
        last.to = to;
        last.count += count;
        last.bytes += to - from;
    }

    /** Reverses a posting of one item. */
    public void reverse(PostingKind kind, String detail, long from, long to) {
        Run run = new Run(kind, detail, from);
        run.to = to;
        run.count = -1;
        run.bytes = from - to;
        runs.add(run);
    }

    public boolean isEmpty() {
        return runs.isEmpty();
    }

    public void flush(LedgerWriter poster, long generation) {
        for (Run run : runs) {
            LedgerEntry row = poster.row(generation, run.kind, run.detail, run.from, run.to);
            row.setCount(run.count);
            row.setBytes(run.bytes);
            poster.post(row);
        }
        runs.clear();
    }
}
