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
 * Posts blocks in parallel, each until the store has it or refuses its data. A store that is away is tried again
 * without end, with a delay that grows from {@value #FIRST_DELAY_MS} ms to {@value #MAX_DELAY_MS} ms: the
 * blocks are in checkpoints, so waiting loses nothing, and failing the job would only replay more.
 */
final class BlockInserter implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(BlockInserter.class);
    private static final long FIRST_DELAY_MS = 100;
    private static final long MAX_DELAY_MS = 5000;

    /** Receives a block's end; called by the poster's threads, exactly once per posted block. */
    interface Listener {

        void stored(PendingBlock block);

        /** @param reason holds no data of the block */
        void refused(PendingBlock block, String reason);

        /** Posting has a bug; the block is not posted again. */
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

    /** Of what is on its way. */
    InsertMetrics times() {
        return times;
    }

    void post(PendingBlock block) {
        times.began(block);
        threads.execute(() -> attempt(block, FIRST_DELAY_MS));
    }

    /** Whether the last attempt found the store away. Then a block waits for another attempt, and its end is told. */
    boolean isAway() {
        return away;
    }

    /** Posts a block again after the longest delay. */
    void postLater(PendingBlock block, String reason) {
        retry(block, MAX_DELAY_MS, reason);
    }

    private void attempt(PendingBlock block, long delayIfUnavailable) {
        try {
            InsertResult outcome = store.insert(block);
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
            threads.schedule(() -> attempt(block, next), delay + jitter, TimeUnit.MILLISECONDS);
        }
    }

    private void logWarning(PendingBlock block, String reason) {
        if (logThrottle.isDue(reason)) {
            LOG.warn("{} rows wait, nothing is lost, trying again: {}", block.rows(), reason);
        }
    }

    private void reportRecovery() {
        if (logThrottle.end()) {
            LOG.info("ClickHouse takes rows again");
        }
    }

    /** Waits for attempts that are under way; blocks that wait for another attempt stay where they are. */
    void finish(Duration atMost) throws InterruptedException {
        threads.shutdown();
        threads.awaitTermination(atMost.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
