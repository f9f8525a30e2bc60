package io.tailrace.spans;

import io.tailrace.event.TraceSpan;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.statement.StatementTables;

/** Receives the content of a message. */
public interface SpanListener {

    /**
     * Receives a span; called once for each valid one, in the message's order.
     *
     * @param tables what its statement does to which tables; empty if the span has no query id
     */
    void span(TraceSpan span, StatementTables tables);

    /**
     * Receives the reason why the message, or some of its spans, could not be read; called at most once for each
     * code, after all spans.
     *
     * @param message what was expected and found; contains no bytes of the message
     */
    void rejected(DeadLetterCode code, String message);
}
