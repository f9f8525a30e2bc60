package io.tailrace.flink.detection;

import io.tailrace.event.EventId;
import io.tailrace.event.QueryEvent;
import io.tailrace.flink.kafka.SingleObjectEncoder;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Creates executions of db-1's slow log, as in the topic. */
public final class Executions {

    private static final SingleObjectEncoder<QueryEvent> ENCODER = new SingleObjectEncoder<>(QueryEvent.class);
    private static final int ENTRY_BYTES = 100;

    private Executions() {}

    /** Returns an execution of a quarter of a second with nine rows. */
    public static byte[] message(long queryId, String plan, long offset, boolean backfilled) {
        return ENCODER.encode(QueryEvent.newBuilder()
                .setEventId(new EventId(ByteBuffer.allocate(16).putLong(offset).array()))
                .setCluster("eu")
                .setInstance("db-1")
                .setSource("slowlog")
                .setLog("/slow.log")
                .setGeneration(1)
                .setEntryOffset(offset)
                .setEntryBytes(ENTRY_BYTES)
                .setFormat("mysql-slow")
                .setEventTime(Instant.ofEpochSecond(1_795_000_000))
                .setConnectionId(1)
                .setUser("app")
                .setHost("")
                .setIp("")
                .setDatabase("shop")
                .setQueryId(queryId)
                .setRuleSet("test")
                .setVerb("SELECT")
                .setQueryTime(0.25)
                .setRowsSent(1)
                .setRowsExamined(9)
                .setErrorCode(0)
                .setAttributes(Map.of())
                .setPlanFlags(List.of())
                .setTablesRead(List.of())
                .setTablesWritten(List.of())
                .setFingerprint("")
                .setPlanHash(plan)
                .setFlags(backfilled ? List.of("backfilled") : List.of())
                .build());
    }
}
