package io.tailrace.reassembly;

import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogFormats;
import io.tailrace.reassembly.content.LineHashes;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * A format for tests, defined by the first letters of lines: {@code B} is a banner; {@code E} starts an entry, which
 * ends with a line that ends in {@code ;} or before the next {@code E}; {@code U} sets the database; {@code '} opens
 * or closes a literal, in which three {@code E} lines prove that it was never closed.
 */
final class PlainFormat implements LogFormat, LogFormats {

    @Override
    public String name() {
        return "plain";
    }

    @Override
    public EntryFramer newFramer() {
        return new Framer();
    }

    @Override
    public EntryFramer restoreFramer(byte[] snapshot) {
        Framer framer = new Framer();
        ByteBuffer in = ByteBuffer.wrap(snapshot);
        framer.position = in.getLong();
        framer.start = in.getLong();
        framer.state = in.getInt();
        framer.proofs = in.getInt();
        framer.firstProof = in.getLong();
        framer.database = in.getInt();
        framer.own = in.getInt();
        return framer;
    }

    @Override
    public EntryParser newParser() {
        throw new UnsupportedOperationException("framing only");
    }

    @Override
    public Optional<LogFormat> named(String name) {
        return name.equals("plain") ? Optional.of(this) : Optional.empty();
    }

    @Override
    public Optional<LogFormat> detect(String source, String hint, byte[] head) {
        for (int line = 0; line < head.length; line = LineHashes.end(head, line, head.length)) {
            if (head[line] == 'B' || head[line] == 'E') {
                return Optional.of(this);
            }
        }
        return Optional.empty();
    }

    private static final class Framer implements EntryFramer {
        private static final int BETWEEN = 0;
        private static final int ENTRY = 1;
        private static final int LITERAL = 2;
        private static final int SKIPPING = 3;

        private long position;
        private long start;
        private int state;
        private int proofs;
        private long firstProof;
        private int database;
        private int own;

        @Override
        public long line(byte[] buffer, int from, int to, long offset, FrameListener out) {
            position = offset + to - from;
            int end = LineHashes.contentEnd(buffer, from, to);
            int letter = end == from ? 0 : buffer[from];
            boolean closes = end > from && buffer[end - 1] == ';';
            if (state == LITERAL) {
                return literal(letter, offset, out);
            }
            if (letter == 'E') {
                finish(offset, state == ENTRY, out);
                begin(offset);
            } else if (state == BETWEEN && (letter == 'B' || letter == 0)) {
                out.framing(offset, position, letter == 'B' ? FramingKind.BANNER : FramingKind.BLANK);
                return position;
            } else if (state == BETWEEN) {
                start = offset;
                state = SKIPPING;
            }
            if (state == ENTRY) {
                if (letter == 'U') {
                    database = buffer[from + 1];
                    own = 1;
                } else if (letter == '\'') {
                    state = LITERAL;
                    proofs = 0;
                } else if (closes) {
                    finish(position, true, out);
                }
            }
            return position;
        }

        private long literal(int letter, long offset, FrameListener out) {
            if (letter == '\'') {
                state = ENTRY;
            } else if (letter == 'E') {
                proofs++;
                firstProof = proofs == 1 ? offset : firstProof;
                if (proofs == 3) {
                    out.rejected(start, firstProof, DeadLetterCode.UNTERMINATED_LITERAL, "");
                    state = BETWEEN;
                    position = firstProof;
                }
            }
            return position;
        }

        private void begin(long offset) {
            start = offset;
            state = ENTRY;
            own = 0;
        }

        private void finish(long to, boolean complete, FrameListener out) {
            if (state == SKIPPING) {
                out.rejected(start, to, DeadLetterCode.NO_ENTRY_START, "");
            } else if (state != BETWEEN && complete) {
                out.entry(start, to, new EntryContext(own == 1 ? "" : "" + (char) database, "", false, false));
            } else if (state != BETWEEN) {
                out.rejected(start, to, DeadLetterCode.INCOMPLETE, "");
            }
            state = BETWEEN;
        }

        @Override
        public long pendingFrom() {
            return state == BETWEEN ? position : start;
        }

        @Override
        public void end(FrameListener out) {
            finish(position, false, out);
        }

        @Override
        public void hole(long resumeAt, FrameListener out) {
            finish(position, false, out);
            position = resumeAt;
            database = 0;
        }

        @Override
        public byte[] snapshot() {
            return ByteBuffer.allocate(48)
                    .putLong(position)
                    .putLong(start)
                    .putInt(state)
                    .putInt(proofs)
                    .putLong(firstProof)
                    .putInt(database)
                    .putInt(own)
                    .array();
        }
    }
}
