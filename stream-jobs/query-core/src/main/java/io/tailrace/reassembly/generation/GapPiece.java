package io.tailrace.reassembly.generation;

import io.tailrace.event.EventId;
import io.tailrace.event.PostingKind;
import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateWriter;

/** Bytes {@code [postedFrom, postedTo)} of a gap's region as they were posted. */
final class GapPiece {

    final PostingKind kind;
    final String detail;
    final long postedTo;
    long postedFrom;
    /** The first offset that is not replaced. */
    long from;

    EventId deadLetter;
    /** The bytes if they are stored; null for a gap, and if they are too many. */
    byte[] bytes;

    long storedAs;

    GapPiece(PostingKind kind, String detail, long from, long to) {
        this.kind = kind;
        this.detail = detail;
        this.from = from;
        this.postedFrom = from;
        this.postedTo = to;
    }

    void save(StateWriter out) {
        out.text(kind.name());
        out.text(detail);
        out.number(from);
        out.number(postedFrom);
        out.number(postedTo);
        out.bytes(deadLetter == null ? null : deadLetter.bytes());
        if (bytes != null && storedAs == 0) {
            storedAs = out.store(bytes);
        }
        out.number(storedAs);
    }

    static GapPiece restore(StateReader in) {
        PostingKind kind = PostingKind.valueOf(in.text());
        String detail = in.text();
        long from = in.number();
        long postedFrom = in.number();
        GapPiece piece = new GapPiece(kind, detail, postedFrom, in.number());
        piece.from = from;
        byte[] letter = in.bytes();
        piece.deadLetter = letter == null ? null : new EventId(letter);
        piece.storedAs = in.number();
        if (piece.storedAs != 0) {
            piece.bytes = in.stored(piece.storedAs);
        }
        return piece;
    }
}
