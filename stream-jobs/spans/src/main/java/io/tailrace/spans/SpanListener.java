package io.tailrace.spans;

import io.tailrace.event.TraceSpan;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.statement.StatementTables;

/** Receives what a message holds. */
public interface SpanListener {

    /**
     * A span; called once for each good one, in the message's order.
     *
     * @param tables what its statement does to which tables; none where the span has no query id
     */
    void span(TraceSpan span, StatementTables tables);

    /**
     * The message, or some of its spans, could not be read; called at most once for each code, after all spans.
     *
     * @param message what was expected and found; holds no bytes of the message
     */
    void rejected(DeadLetterCode code, String message);
}
