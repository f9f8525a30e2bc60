package io.tailrace.spans;

import io.tailrace.event.TraceSpan;
import io.tailrace.framing.DeadLetterCode;

/** Receives what a message holds. */
public interface SpanListener {

    /** A span; called once for each good one, in the message's order. */
    void span(TraceSpan span);

    /**
     * The message, or some of its spans, could not be read; called at most once for each code, after all spans.
     *
     * @param message what was expected and found; holds no bytes of the message
     */
    void rejected(DeadLetterCode code, String message);
}
