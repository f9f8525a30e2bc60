package io.tailrace.flink.detection;

import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import io.tailrace.event.Stage;
import java.time.Instant;

/** Creates gaps for tests. */
public final class Gaps {

    private Gaps() {}

    public static LedgerEntry lost(String instance, long from, long to, Instant at) {
        return LedgerEntry.newBuilder()
                .setCluster("shop")
                .setInstance(instance)
                .setSource("audit")
                .setLog("/audit.log")
                .setPath("/audit.log.1")
                .setGeneration(3)
                .setStage(Stage.FRAMER)
                .setKind(PostingKind.GAP)
                .setDetail("lost")
                .setFromOffset(from)
                .setToOffset(to)
                .setCount(1)
                .setBytes(to - from)
                .setAt(at)
                .build();
    }
}
