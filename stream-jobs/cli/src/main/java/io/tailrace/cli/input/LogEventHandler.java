package io.tailrace.cli.input;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryDetail;
import io.tailrace.framing.LogOrigin;
import java.util.function.Predicate;

/** Receives the contents of a log file, in file order. */
public interface LogEventHandler {

    /** Returns the required detail of each entry. */
    default EntryDetail detail() {
        return EntryDetail.FULL;
    }

    /**
     * Returns a predicate for the events that {@link #query} shall receive with their statement; the others have an
     * empty one. Each parsing thread has its own predicate, which sees the events of that thread in file order.
     */
    default Predicate<QueryEvent> statementFilter() {
        return event -> true;
    }

    /** Receives a statement; {@code statement} is as logged, and empty if it must not be stored or is not needed. */
    void query(QueryEvent event, String fingerprint, String statement);

    /** Receives a record of an audit or general log, with its statement likewise. */
    void audit(AuditEvent event, String fingerprint, String statement);

    void error(ErrorEvent event);

    void deadLetter(Refusal refusal);

    /** Receives the first line of a banner, which a server writes at its start. */
    default void banner(String line) {}

    /**
     * Bytes that are not an event. The array must not be stored.
     *
     * @param origin log of the bytes
     * @param byParser an entry that was framed but cannot be parsed; otherwise bytes that are not an entry
     * @param bytes contains them from {@code from} to {@code to}; empty if they were too many to store
     */
    record Refusal(
            LogOrigin origin,
            boolean byParser,
            long offset,
            long length,
            byte[] bytes,
            int from,
            int to,
            DeadLetterCode code,
            String message) {

        /** Returns a description in one line. */
        public String describe() {
            return "dead letter at byte " + offset + ", " + length + " bytes: " + code + ": " + message;
        }
    }
}
