package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import io.tailrace.flink.runtime.RenamedMetrics;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.flink.metrics.MetricGroup;

/** Records the start of each insert and the number of failed attempts, for metrics, which other threads read. */
final class InsertMetrics {

    private final Map<String, Long> begun = new ConcurrentHashMap<>();
    private final LongAdder failed = new LongAdder();

    /** Records the start of an insert; retries of the same block do not count. */
    void began(PendingBlock block) {
        begun.putIfAbsent(block.token(), System.nanoTime());
    }

    void failed() {
        failed.increment();
    }

    void ended(PendingBlock block) {
        begun.remove(block.token());
    }

    void register(MetricGroup metrics) {
        RenamedMetrics.gauge(metrics, "oldestInsertSeconds", this::oldestSeconds);
        RenamedMetrics.gauge(metrics, "failedInserts", failed::sum);
    }

    /** Returns the age of the oldest insert in seconds; 0 if none is in flight. */
    long oldestSeconds() {
        long now = System.nanoTime();
        return begun.values().stream()
                .mapToLong(since -> TimeUnit.NANOSECONDS.toSeconds(now - since))
                .max()
                .orElse(0);
    }
}
