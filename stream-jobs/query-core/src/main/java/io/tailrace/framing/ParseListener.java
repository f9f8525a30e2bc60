package io.tailrace.framing;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;

/** Receives the result of parsing: one call of query, audit, error or rejected per entry. */
public interface ParseListener {

    /**
     * Returns whether {@link #query} needs the statement of this event. If not, it receives an empty one, which saves
     * time.
     *
     * @param event as {@link #query} will receive it
     */
    default boolean needsStatement(QueryEvent event) {
        return true;
    }

    /**
     * Reports the {@code query_id} that the rules before {@link io.tailrace.fingerprint.Fingerprinter#RULE_SET} gave
     * to the statement of the next event.
     */
    default void renamed(long previousQueryId) {}

    /**
     * Receives a statement of a slow query log.
     *
     * @param event without any literal
     * @param fingerprint text of the event's {@code query_id}
     * @param statement the statement as logged, unmasked; empty if it sets a password or is not needed
     */
    void query(QueryEvent event, String fingerprint, String statement);

    /**
     * Receives a record of an audit log, or a command of a general log.
     *
     * @param fingerprint text of the event's {@code query_id}; empty if it has none
     * @param statement the statement as logged, unmasked; empty if there is none or it sets a password
     */
    void audit(AuditEvent event, String fingerprint, String statement);

    /** Receives a message of an error log. */
    void error(ErrorEvent event);

    /** Receives the reason why an entry does not conform to its format. */
    void rejected(DeadLetterCode code, String message);
}
