package io.tailrace.cli.input;

import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.FramingKind;
import java.util.EnumMap;
import java.util.Map;

/** Accounts for the bytes of a file: each is part of an event, a dead letter, framing, or pending. */
public final class ByteAccounting {

    /** A number of items and their bytes. */
    static final class Posting {

        long count;
        long bytes;

        void add(long moreBytes) {
            count++;
            bytes += moreBytes;
        }
    }

    final Posting events = new Posting();
    final Map<DeadLetterCode, Posting> deadLetters = new EnumMap<>(DeadLetterCode.class);
    final Map<FramingKind, Posting> framing = new EnumMap<>(FramingKind.class);
    /** Bytes that were read, but neither framed nor rejected. */
    long pending;
    /** Size of the file in bytes. */
    public long size;

    void deadLetter(DeadLetterCode code, long bytes) {
        deadLetters.computeIfAbsent(code, key -> new Posting()).add(bytes);
    }

    void framing(FramingKind kind, long bytes) {
        framing.computeIfAbsent(kind, key -> new Posting()).add(bytes);
    }

    long deadLetterCount() {
        return deadLetters.values().stream().mapToLong(posting -> posting.count).sum();
    }

    long accounted() {
        long refused = deadLetters.values().stream()
                .mapToLong(posting -> posting.bytes)
                .sum();
        long around =
                framing.values().stream().mapToLong(posting -> posting.bytes).sum();
        return events.bytes + refused + around + pending;
    }

    public boolean balance() {
        return accounted() == size;
    }

    /** Returns the accounts in one line. */
    public String describe(String name, String format) {
        StringBuilder line = new StringBuilder(name).append(": ").append(format);
        line.append(", ").append(size).append(" bytes = ");
        line.append(events.count).append(events.count == 1 ? " event (" : " events (");
        line.append(events.bytes).append(" bytes)");
        deadLetters.forEach((code, posting) ->
                describe(posting, (posting.count == 1 ? "dead letter " : "dead letters ") + code, line));
        framing.forEach((kind, posting) -> describe(posting, "framing " + kind, line));
        if (pending > 0) {
            line.append(" + ").append(pending).append(" bytes pending");
        }
        if (!balance()) {
            line.append(" — DOES NOT BALANCE: ").append(accounted()).append(" bytes accounted for");
        }
        return line.toString();
    }

    private static void describe(Posting posting, String what, StringBuilder line) {
        line.append(" + ").append(posting.count).append(' ').append(what);
        line.append(" (").append(posting.bytes).append(" bytes)");
    }
}
