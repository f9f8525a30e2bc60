package io.tailrace.flink.detection.events;

import io.tailrace.detect.PlanSighting;

/**
 * An event or a posting of the topic with what must be known of it before it is read whole.
 *
 * @param log key of its log: {@link io.tailrace.reassembly.LogId#toKey()}
 * @param generation which file of that name
 * @param offset byte offset of its entry in its file; of a posting: where its range begins
 * @param length bytes of its entry or range
 * @param instance server
 * @param session by which the events of one connection meet, and those of one user's refused logins
 * @param micros event time, microseconds since 1970 UTC
 * @param backfilled its bytes were shipped again
 * @param posting it is no event but a posting of the ledger: a gap
 * @param queryId of its statement, if it is an execution that the log tells the time of; else 0
 * @param execution what it tells of its statement's plan; null where neither the log nor a capture says which that is
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
