package io.tailrace.spans;

import io.tailrace.framing.DeadLetterCode;
import java.util.EnumMap;
import java.util.Map;

/** Collects the problems of a message: the number of each kind, and a description of the first one. Not thread-safe. */
final class MessageProblems {

    private static final class Kind {
        private final String first;
        private int spans;

        Kind(String first) {
            this.first = first;
        }
    }

    private final Map<DeadLetterCode, Kind> kinds = new EnumMap<>(DeadLetterCode.class);
    private int spans;

    void clear() {
        kinds.clear();
        spans = 0;
    }

    void countSpan() {
        spans++;
    }

    /** Adds a problem of the whole message. */
    void malformed(String error) {
        kinds.putIfAbsent(DeadLetterCode.MALFORMED_MESSAGE, new Kind(error));
    }

    /** Adds a problem of one of its spans. */
    void span(DeadLetterCode code, String error) {
        kinds.computeIfAbsent(code, key -> new Kind(error)).spans++;
    }

    void report(SpanListener listener) {
        kinds.forEach((code, kind) -> listener.rejected(code, text(kind)));
    }

    private String text(Kind kind) {
        return kind.spans == 0 ? kind.first : kind.spans + " of " + spans + " spans: " + kind.first;
    }
}
