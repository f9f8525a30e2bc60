package io.tailrace.flink.detection.events;

import io.tailrace.detect.PlanSighting;

/**
 * An event or a posting of the topic, with the fields that are needed before it is decoded completely.
 *
 * @param log key of its log: {@link io.tailrace.reassembly.LogId#toKey()}
 * @param generation generation of its log
 * @param offset byte offset of its entry in its file; for a posting: start of its range
 * @param length bytes of its entry or range
 * @param instance server
 * @param session key for the events of one connection, and for the refused logins of one user
 * @param micros event time, microseconds since 1970 UTC
 * @param backfilled its bytes were shipped again
 * @param posting whether it is a posting of the ledger (a gap) instead of an event
 * @param queryId of its statement, if it is an execution whose duration the log contains; else 0
 * @param execution the execution with its plan; null if neither the log nor a capture contains the plan
 * @param bytes the record in Avro's single-object encoding
 */
public record EventRecord(
        String log,
        long generation,
        long offset,
        long length,
        String instance,
        String session,
        long micros,
        boolean backfilled,
        boolean posting,
        long queryId,
        PlanSighting execution,
        byte[] bytes) {

    EventRecord with(PlanSighting execution) {
        return new EventRecord(
                log,
                generation,
                offset,
                length,
                instance,
                session,
                micros,
                backfilled,
                posting,
                queryId,
                execution,
                bytes);
    }
}
