package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import io.tailrace.flink.clickhouse.InsertResult.Refused;
import io.tailrace.flink.clickhouse.InsertResult.Unavailable;
import io.tailrace.flink.runtime.RenamedMetrics;
import java.time.LocalDate;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.avro.specific.SpecificRecord;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.operators.ProcessingTimeService;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.util.function.ThrowingRunnable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Inserts rows as they arrive, one block after another: the rows that arrive during an insert form the next block.
 *
 * <ul>
 * <li>A block contains rows of one month, which is a partition: ClickHouse refuses an insert into more than a hundred.
 * <li>While ClickHouse is unavailable, inserts are retried without a limit, with a delay that grows to {@value
 * #MAX_DELAY_MS} ms. Waiting blocks are compressed. Each checkpoint contains them with their layout. A checkpoint does
 * not wait for an insert.
 * <li>A block that is refused because of its data is split until the invalid rows are isolated and become dead letters:
 * {@link RefusedBlockSplitter}.
 * </ul>
 *
 * @param <T> the record that is one row
 */
final class AtLeastOnceWriter<T extends SpecificRecord> implements StatefulSinkWriter<T, PendingBlock> {

    private static final Logger LOG = LoggerFactory.getLogger(AtLeastOnceWriter.class);
    private static final long SOON_MS = 50;
    private static final long FIRST_DELAY_MS = 100;
    private static final long MAX_DELAY_MS = 5000;
    private static final long LAST_INSERTS_MS = 5000;
    private static final int BLOCK_BYTES = 4 << 20;
    private static final int INITIAL_ROW_BYTES = 1024;
    /** For dead letters that belong to no checkpoint of the normalize job, so that no rewind deletes them. */
    private static final long NO_CHECKPOINT = 0;

    private final RowBinaryEncoder encoder;
    private final Optional<SubjectNames> names;
    private final String layout;
    private final InsertTarget store;
    private final RefusedBlockSplitter refusedBlocks;
    private final long maxWaitingBytes;
    private final MailboxExecutor mailbox;
    private final ProcessingTimeService timers;
    private final Counter rejectedRows;
    private final LogThrottle logThrottle = new LogThrottle();
    private final InsertMetrics times = new InsertMetrics();
    private final ExecutorService thread = Executors.newSingleThreadExecutor(task -> {
        Thread made = new Thread(task, "clickhouse-at-once");
        made.setDaemon(true);
        return made;
    });

    private final Map<BlockKey, BlockBuilder> open = new LinkedHashMap<>();
    private final Deque<PendingBlock> sealed = new ArrayDeque<>();
    /** Tokens of waiting blocks that an earlier attempt may have stored. */
    private final Set<String> tried = new HashSet<>();
    /** The block that is being inserted or waits for a retry; null if there is none. */
    private PendingBlock underWay;

    private boolean soon;
    private boolean away;
    private long delayMillis = FIRST_DELAY_MS;
    private long waitingBytes;

    /**
     * @param encoder one of {@link RowBinaryEncoder#atOnce}
     * @param names names that the encoder replaces
     * @param waiting blocks of a checkpoint
     * @param maxWaitingBytes number of waiting compressed bytes from which on no more rows are accepted
     */
    AtLeastOnceWriter(
            RowBinaryEncoder encoder,
            Optional<SubjectNames> names,
            InsertTarget store,
            RefusedBlockSplitter refusedBlocks,
            Collection<PendingBlock> waiting,
            long maxWaitingBytes,
            WriterInitContext context) {
        this.encoder = encoder;
        this.names = names;
        this.layout = encoder.layout().text();
        this.store = store;
        this.refusedBlocks = refusedBlocks;
        this.maxWaitingBytes = maxWaitingBytes;
        this.mailbox = context.getMailboxExecutor();
        this.timers = context.getProcessingTimeService();
        MetricGroup metrics = context.metricGroup().addGroup("clickhouse");
        this.rejectedRows = RenamedMetrics.counter(metrics, "rejectedRows");
        metrics.gauge("pendingBytes", () -> waitingBytes);
        times.register(metrics);
        waiting.stream().filter(block -> block.rows() > 0).forEach(this::queue);
        sealed.forEach(block -> tried.add(block.token()));
        insertNext();
    }

    @Override
    public void write(T row, Context context) throws InterruptedException {
        while (waitingBytes > maxWaitingBytes) {
            mailbox.yield();
        }
        RowBinaryBuffer bytes = new RowBinaryBuffer(INITIAL_ROW_BYTES);
        encoder.encode(row, bytes);
        names.flatMap(SubjectNames::takeArrivals).ifPresent(this::add);
        add(new RowBlock(layout, month(encoder.day(row)), 1, bytes.toByteArray()));
        insertSoon();
    }

    /** Returns the first day of a day's month. */
    private static int month(int day) {
        return (int) LocalDate.ofEpochDay(day).withDayOfMonth(1).toEpochDay();
    }

    private void add(RowBlock row) {
        BlockKey target = BlockKey.of(row, false);
        BlockBuilder block = open.computeIfAbsent(target, key -> new BlockBuilder(key.layout()));
        block.add(row);
        if (block.size() >= BLOCK_BYTES) {
            open.remove(target);
            queue(target.seal(block));
        }
    }

    private void queue(PendingBlock block) {
        sealed.add(block);
        waitingBytes += block.frame().length;
    }

    private void insertSoon() {
        if (!soon && underWay == null) {
            soon = true;
            timers.registerTimer(timers.getCurrentProcessingTime() + SOON_MS, time -> {
                soon = false;
                insertNext();
            });
        }
    }

    /** Open blocks stay open while others wait, so that an outage leaves few blocks instead of many. */
    private void insertNext() {
        if (underWay != null) {
            return;
        }
        if (sealed.isEmpty()) {
            sealAll();
        }
        underWay = sealed.poll();
        if (underWay != null) {
            PendingBlock block = underWay;
            times.began(block);
            boolean isRepeated = tried.contains(block.token());
            thread.execute(() -> attempt(block, isRepeated));
        }
    }

    private void sealAll() {
        open.forEach((target, block) -> queue(target.seal(block)));
        open.clear();
    }

    private void attempt(PendingBlock block, boolean isRepeated) {
        try {
            InsertResult outcome = isRepeated ? store.insertAgain(block) : store.insert(block);
            completeInMailbox(() -> ended(block, outcome));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException bug) {
            completeInMailbox(() -> {
                throw bug;
            });
        }
    }

    private void completeInMailbox(ThrowingRunnable<Exception> mail) {
        try {
            mailbox.execute(mail, "an insert has ended");
        } catch (RejectedExecutionException e) {
            LOG.debug("the task has ended before its last insert did", e);
        }
    }

    private void ended(PendingBlock block, InsertResult outcome) {
        if (outcome instanceof Unavailable unavailable) {
            tryLater(block, unavailable.reason());
        } else if (outcome instanceof Refused refused && BlockKey.isDeadLetter(block)) {
            tryLater(block, "ClickHouse refuses dead letters and postings of refused rows: " + refused.reason());
        } else {
            done(block);
            if (outcome instanceof Refused refused) {
                replace(block, refused.reason());
            }
            insertNext();
        }
    }

    private void done(PendingBlock block) {
        underWay = null;
        tried.remove(block.token());
        times.ended(block);
        waitingBytes -= block.frame().length;
        away = false;
        delayMillis = FIRST_DELAY_MS;
        if (logThrottle.end()) {
            LOG.info("ClickHouse accepts rows again");
        }
    }

    /** Retries the block after all others, so that one invalid table does not delay the rows of another. */
    private void tryLater(PendingBlock block, String reason) {
        if (logThrottle.isDue(reason)) {
            LOG.warn("{} rows wait (none are lost), retrying: {}", block.rows(), reason);
        }
        away = true;
        tried.add(block.token());
        times.failed();
        timers.registerTimer(timers.getCurrentProcessingTime() + delayMillis, time -> {
            underWay = null;
            sealed.add(block);
            insertNext();
        });
        delayMillis = Math.min(delayMillis * 2, MAX_DELAY_MS);
    }

    private void replace(PendingBlock block, String reason) {
        if (!refusedBlocks.exceedsSplitLimit(block)) {
            refusedBlocks.cut(block).forEach(this::queue);
            return;
        }
        LOG.error("{} rows become dead letters: ClickHouse refuses them: {}", block.rows(), reason);
        rejectedRows.inc(block.rows());
        for (RowBlock letters : refusedBlocks.convertToDeadLetters(block, reason, NO_CHECKPOINT)) {
            BlockBuilder letter = new BlockBuilder(letters.layout());
            letter.add(letters);
            queue(BlockKey.of(letters, true).seal(letter));
        }
    }

    /**
     * At the end of the input, waits until all rows are stored. Otherwise returns immediately, because waiting rows are
     * part of the checkpoint.
     */
    @Override
    public void flush(boolean endOfInput) throws InterruptedException {
        while (endOfInput && (underWay != null || !sealed.isEmpty() || !open.isEmpty())) {
            insertNext();
            mailbox.yield();
        }
    }

    @Override
    public List<PendingBlock> snapshotState(long checkpointId) {
        sealAll();
        List<PendingBlock> waiting = new ArrayList<>();
        if (underWay != null) {
            waiting.add(underWay);
        }
        waiting.addAll(sealed);
        return waiting;
    }

    /** Waits briefly for inserts in flight. Rows that are not stored are restored from the checkpoint. */
    @Override
    public void close() throws InterruptedException {
        try {
            sealAll();
            if (!away) {
                sealed.forEach(block -> thread.execute(() -> insertAtEnd(block)));
                thread.shutdown();
                thread.awaitTermination(LAST_INSERTS_MS, TimeUnit.MILLISECONDS);
            }
        } finally {
            thread.shutdownNow();
        }
    }

    private void insertAtEnd(PendingBlock block) {
        try {
            store.insert(block);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
