package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import io.tailrace.flink.clickhouse.InsertResult.Refused;
import io.tailrace.flink.clickhouse.InsertResult.Stored;
import io.tailrace.flink.clickhouse.InsertResult.Unavailable;
import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Inserts blocks in parallel, each until ClickHouse has stored it or refuses its data. While ClickHouse is unavailable,
 * inserts are retried without a limit, with a delay that grows from {@value #FIRST_DELAY_MS} ms to {@value
 * #MAX_DELAY_MS} ms. The blocks are part of checkpoints, so waiting loses nothing, and failing the job would only
 * replay more.
 */
final class BlockInserter implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(BlockInserter.class);
    private static final long FIRST_DELAY_MS = 100;
    private static final long MAX_DELAY_MS = 5000;

    /** Receives the result of a block. The inserter's threads call it exactly once per block. */
    interface Listener {

        void stored(PendingBlock block);

        /** @param reason contains no data of the block */
        void refused(PendingBlock block, String reason);

        /** Reports a bug in the inserter; the block is not inserted again. */
        void failed(RuntimeException bug);
    }

    private final InsertTarget store;
    private final Listener listener;
    private final ScheduledThreadPoolExecutor threads;
    private final LogThrottle logThrottle = new LogThrottle();
    private final InsertMetrics times = new InsertMetrics();
    private volatile boolean away;

    BlockInserter(InsertTarget store, int parallelPosts, String name, Listener listener) {
        this.store = store;
        this.listener = listener;
        threads = new ScheduledThreadPoolExecutor(parallelPosts, task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        });
        threads.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /** Returns the metrics of the inserts in flight. */
    InsertMetrics times() {
        return times;
    }

    void post(PendingBlock block) {
        times.began(block);
        threads.execute(() -> attempt(block, FIRST_DELAY_MS, false));
    }

    /** Inserts a block that may be stored already, wholly or in part. */
    void postAgain(PendingBlock block) {
        times.began(block);
        threads.execute(() -> attempt(block, FIRST_DELAY_MS, true));
    }

    /**
     * Returns whether the last attempt found ClickHouse unavailable. Then at least one block waits for a retry, and the
     * listener receives its result.
     */
    boolean isAway() {
        return away;
    }

    /** Inserts a block again after the longest delay. */
    void postLater(PendingBlock block, String reason) {
        retry(block, MAX_DELAY_MS, reason);
    }

    private void attempt(PendingBlock block, long delayIfUnavailable, boolean isRepeated) {
        try {
            InsertResult outcome = isRepeated ? store.insertAgain(block) : store.insert(block);
            away = outcome instanceof Unavailable;
            if (outcome instanceof Stored) {
                reportRecovery();
                times.ended(block);
                listener.stored(block);
            } else if (outcome instanceof Refused refused) {
                times.ended(block);
                listener.refused(block, refused.reason());
            } else if (outcome instanceof Unavailable unavailable) {
                retry(block, delayIfUnavailable, unavailable.reason());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException bug) {
            listener.failed(bug);
        }
    }

    private void retry(PendingBlock block, long delay, String reason) {
        times.began(block);
        times.failed();
        logWarning(block, reason);
        if (!threads.isShutdown()) {
            long jitter = ThreadLocalRandom.current().nextLong(delay / 2 + 1);
            long next = Math.min(delay * 2, MAX_DELAY_MS);
            threads.schedule(() -> attempt(block, next, true), delay + jitter, TimeUnit.MILLISECONDS);
        }
    }

    private void logWarning(PendingBlock block, String reason) {
        if (logThrottle.isDue(reason)) {
            LOG.warn("{} rows wait (none are lost), retrying: {}", block.rows(), reason);
        }
    }

    private void reportRecovery() {
        if (logThrottle.end()) {
            LOG.info("ClickHouse accepts rows again");
        }
    }

    /** Waits for attempts in flight; blocks that wait for a retry are not inserted. */
    void finish(Duration atMost) throws InterruptedException {
        threads.shutdown();
        threads.awaitTermination(atMost.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
