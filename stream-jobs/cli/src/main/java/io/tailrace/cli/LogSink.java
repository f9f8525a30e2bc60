package io.tailrace.cli;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.LogOrigin;

/** Receives what a log file holds, in file order. */
interface LogSink {

    void query(QueryEvent event, String fingerprint);

    void audit(AuditEvent event, String fingerprint);

    void error(ErrorEvent event);

    void deadLetter(Refusal refusal);

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
            String message) {}
}
