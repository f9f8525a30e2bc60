package io.tailrace.flink.detection.events;

import io.tailrace.detect.PlanSighting;
import io.tailrace.reassembly.LogId;

/**
 * An event or a posting of the topic, with the fields that are needed before it is decoded completely.
 *
 * @param log key of its log: {@link LogId#toKey()}
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

    /** Returns the builder of an event or a posting of a log, with its record in Avro's single-object encoding. */
    public static Builder of(LogId log, byte[] bytes) {
        return new Builder(log.toKey(), log.instance(), bytes);
    }

    EventRecord with(PlanSighting execution) {
        Builder copy = new Builder(log, instance, bytes)
                .range(generation, offset, length)
                .at(micros)
                .session(session)
                .backfilled(backfilled)
                .execution(queryId, execution);
        copy.posting = posting;
        return copy.build();
    }

    /** Sets the components by name. Unset numbers are 0, and an unset execution is null. */
    public static final class Builder {

        private final String log;
        private final String instance;
        private final byte[] bytes;
        private long generation;
        private long offset;
        private long length;
        private long micros;
        private String session;
        private boolean backfilled;
        private boolean posting;
        private long queryId;
        private PlanSighting execution;

        private Builder(String log, String instance, byte[] bytes) {
            this.log = log;
            this.instance = instance;
            this.bytes = bytes;
        }

        /** Sets the position of the entry or range: its generation, its offset in the file and its length in bytes. */
        public Builder range(long generation, long offset, long length) {
            this.generation = generation;
            this.offset = offset;
            this.length = length;
            return this;
        }

        /** @param micros event time, microseconds since 1970 UTC */
        public Builder at(long micros) {
            this.micros = micros;
            return this;
        }

        /** @param session null for the key of the log, which is also the default */
        Builder session(String session) {
            this.session = session;
            return this;
        }

        public Builder backfilled(boolean backfilled) {
            this.backfilled = backfilled;
            return this;
        }

        /** Marks it as a posting of the ledger. */
        Builder posting() {
            this.posting = true;
            return this;
        }

        /** @param execution null if its plan is unknown */
        Builder execution(long queryId, PlanSighting execution) {
            this.queryId = queryId;
            this.execution = execution;
            return this;
        }

        public EventRecord build() {
            return new EventRecord(
                    log,
                    generation,
                    offset,
                    length,
                    instance,
                    session == null ? log : session,
                    micros,
                    backfilled,
                    posting,
                    queryId,
                    execution,
                    bytes);
        }
    }
}
