package io.tailrace.framing;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;

/** Receives what an entry means: exactly one call per entry. */
public interface ParseListener {

    /**
     * Whether {@link #query} shall get the statement of this event, which costs time to make; an empty one else.
     *
     * @param event as {@link #query} will get it
     */
    default boolean needsStatement(QueryEvent event) {
        return true;
    }

    /**
     * The statement of the event that is reported next had another {@code query_id} by the rules before
     * {@link io.tailrace.fingerprint.Fingerprinter#RULE_SET}.
     */
    default void renamed(long previousQueryId) {}

    /**
     * A statement of a slow log.
     *
     * @param event without any literal
     * @param fingerprint text of the event's {@code query_id}
     * @param statement the statement as logged, unmasked; empty where it sets a password or is not wanted
     */
    void query(QueryEvent event, String fingerprint, String statement);

    /**
     * A record of an audit log, or a command of a general log.
     *
     * @param fingerprint text of the event's {@code query_id}, empty when it has none
     * @param statement the statement as logged, unmasked; empty where there is none or it sets a password
     */
    void audit(AuditEvent event, String fingerprint, String statement);

    /** A message of an error log. */
    void error(ErrorEvent event);

    /** The entry is none of its format. */
    void rejected(DeadLetterCode code, String message);
}
