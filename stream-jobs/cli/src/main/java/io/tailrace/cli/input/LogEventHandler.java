package io.tailrace.cli.input;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryDetail;
import io.tailrace.framing.LogOrigin;
import java.util.function.Predicate;

/** Receives what a log file holds, in file order. */
public interface LogEventHandler {

    /** How much of each entry is wanted. */
    default EntryDetail detail() {
        return EntryDetail.FULL;
    }

    /**
     * A judge of which events {@link #query} shall get with their statement; the others come with an empty one. Each
     * thread that parses has one of its own, which sees the events of that thread in file order.
     */
    default Predicate<QueryEvent> statementFilter() {
        return event -> true;
    }

    /** A statement; {@code statement} is as logged, and empty where it may not be kept or is not wanted. */
    void query(QueryEvent event, String fingerprint, String statement);

    /** A record of an audit or general log, with its statement in the same way. */
    void audit(AuditEvent event, String fingerprint, String statement);

    void error(ErrorEvent event);

    void deadLetter(Refusal refusal);

    /** The first line of a banner with which a server began to write. */
    default void banner(String line) {}

    /**
     * Bytes that are no event. The array is only lent.
     *
     * @param origin the log that holds them
     * @param byParser an entry that was framed and is none of its format; else bytes that are no entry
     * @param bytes holds them from {@code from} to {@code to}; empty where they were too many to keep
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

        /** In one line. */
        public String describe() {
            return "dead letter at byte " + offset + ", " + length + " bytes: " + code + ": " + message;
        }
    }
}
