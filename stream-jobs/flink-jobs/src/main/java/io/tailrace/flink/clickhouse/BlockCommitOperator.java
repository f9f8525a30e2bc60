package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import io.tailrace.flink.runtime.RenamedMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Stores blocks of rows exactly once.
 *
 * <ol>
 * <li>Between two checkpoint barriers it merges the blocks that arrive, per table and day.
 * <li>At a barrier it seals them: each gets a random token, and block and token become part of the checkpoint.
 * <li>When the checkpoint is complete, it inserts them asynchronously with their tokens and forgets each one that is
 * stored. Blocks that are not stored yet are part of every later checkpoint.
 * <li>While ClickHouse is unavailable, it only retries the blocks that it has already tried. The others wait, and many
 * small ones are merged at a later checkpoint: {@link UnsentBlocks}.
 * <li>After a restore it inserts the blocks of the checkpoint again, with the same tokens: ClickHouse ignores those
 * that it has stored. Each repetition must succeed twice: {@link InsertTarget#insertAgain}.
 * <li>A block that is refused because of its data is replaced by smaller ones until the invalid rows are isolated and
 * become dead letters: {@link RefusedBlockSplitter}.
 * </ol>
 *
 * <p>An outage of ClickHouse therefore stops neither checkpoints nor the job. When sealed blocks exceed a limit, the
 * operator accepts no more rows until some are stored. It waits only for blocks whose barrier has passed it, so the
 * wait never blocks the checkpoint that it depends on. Rows between two barriers are never held back: they become part
 * of the next checkpoint.
 *
 * <p>Flink's committer is not used, because its {@code commit} blocks the task: an outage would stop checkpoints while
 * writers continue to fill the heap. It also cannot merge the blocks of many writers, which limits the number of parts.
 */
final class BlockCommitOperator extends AbstractStreamOperator<Void> implements OneInputStreamOperator<RowBlock, Void> {

    private static final long serialVersionUID = 1;
    private static final ListStateDescriptor<PendingBlock> PENDING =
            new ListStateDescriptor<>("pending-blocks", TypeInformation.of(PendingBlock.class));
    private static final Duration LAST_POSTS = Duration.ofSeconds(15);

    private final CommitterConfig settings;
    private final transient MailboxExecutor mailbox;

    private transient ListState<PendingBlock> state;
    private transient Map<BlockKey, BlockBuilder> open;
    private transient List<SealedBlock> sealed;
    private transient TreeMap<Long, List<SealedBlock>> awaitingCheckpoint;
    private transient UnsentBlocks waiting;
    private transient Map<String, PendingBlock> posting;
    private transient long pendingBytes;
    private transient long lastCheckpoint;
    private transient BlockInserter poster;
    private transient RefusedBlockSplitter refusedBlocks;
    private transient Counter insertedRows;
    private transient Counter rejectedRows;

    BlockCommitOperator(CommitterConfig settings, StreamOperatorParameters<Void> parameters) {
        super(parameters);
        this.settings = settings;
        this.mailbox = parameters.getMailboxExecutor();
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        open = new LinkedHashMap<>();
        sealed = new ArrayList<>();
        awaitingCheckpoint = new TreeMap<>();
        waiting = new UnsentBlocks();
        posting = new HashMap<>();
        lastCheckpoint = context.getRestoredCheckpointId().orElse(0);
        state = context.getOperatorStateStore().getListState(PENDING);
        for (PendingBlock block : state.get()) {
            posting.put(block.token(), block);
            pendingBytes += block.frame().length;
        }
    }

    @Override
    public void open() throws Exception {
        super.open();
        refusedBlocks = settings.refusedBlocks();
        poster = new BlockInserter(settings.store().create(), settings.parallelPosts(), threadName(), mails());
        registerMetrics();
        List.copyOf(posting.values()).forEach(poster::postAgain);
    }

    private String threadName() {
        return "clickhouse-post-" + getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    }

    private void registerMetrics() {
        MetricGroup metrics = getMetricGroup().addGroup("clickhouse");
        insertedRows = RenamedMetrics.counter(metrics, "insertedRows");
        rejectedRows = RenamedMetrics.counter(metrics, "rejectedRows");
        metrics.gauge("pendingBytes", () -> pendingBytes);
        metrics.gauge("pendingBlocks", () -> posting.size() + waiting.size());
        poster.times().register(metrics);
    }

    /** Moves the callbacks of the inserter's threads to the task's own thread. */
    private BlockInserter.Listener mails() {
        return new BlockInserter.Listener() {
            @Override
            public void stored(PendingBlock block) {
                mailbox.execute(() -> onStored(block), "block stored");
            }

            @Override
            public void refused(PendingBlock block, String reason) {
                mailbox.execute(() -> onRefused(block, reason), "block refused");
            }

            @Override
            public void failed(RuntimeException bug) {
                mailbox.execute(
                        () -> {
                            throw bug;
                        },
                        "posting failed");
            }
        };
    }

    @Override
    public void processElement(StreamRecord<RowBlock> element) throws Exception {
        RowBlock rows = element.getValue();
        add(rows, BlockKey.of(rows, false));
        while (pendingBytes > settings.maxPendingBytes()) {
            mailbox.yield();
        }
    }

    private void add(RowBlock rows, BlockKey target) {
        BlockBuilder block = open.computeIfAbsent(target, key -> new BlockBuilder(key.layout()));
        if (!block.hasRoomFor(rows)) {
            sealed.add(SealedBlock.of(target, block));
            block = new BlockBuilder(rows.layout());
            open.put(target, block);
        }
        block.add(rows);
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        lastCheckpoint = context.getCheckpointId();
        sealAll(lastCheckpoint);
        List<PendingBlock> pending = new ArrayList<>(posting.values());
        pending.addAll(waiting.all());
        awaitingCheckpoint.values().stream()
                .flatMap(Collection::stream)
                .map(SealedBlock::block)
                .forEach(pending::add);
        state.update(pending);
    }

    private void sealAll(long checkpointId) {
        pendingBytes -= bytesOf(waiting.all());
        sealed.addAll(waiting.merge());
        pendingBytes += bytesOf(waiting.all());
        open.forEach((target, block) -> sealed.add(SealedBlock.of(target, block)));
        open.clear();
        if (!sealed.isEmpty()) {
            pendingBytes += bytesOf(sealed.stream().map(SealedBlock::block).toList());
            awaitingCheckpoint.put(checkpointId, sealed);
            sealed = new ArrayList<>();
        }
    }

    private static long bytesOf(Collection<PendingBlock> blocks) {
        return blocks.stream().mapToLong(block -> block.frame().length).sum();
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) throws Exception {
        super.notifyCheckpointComplete(checkpointId);
        Map<Long, List<SealedBlock>> durable = awaitingCheckpoint.headMap(checkpointId, true);
        durable.values().stream().flatMap(Collection::stream).forEach(this::postOrLetWait);
        durable.clear();
    }

    private void postOrLetWait(SealedBlock sealed) {
        if (poster.isAway() && sealed.target().isPresent()) {
            waiting.add(sealed.target().get(), sealed.block());
        } else {
            post(sealed.block());
        }
    }

    private void post(PendingBlock block) {
        posting.put(block.token(), block);
        poster.post(block);
    }

    /** Returns whether no block is in flight. */
    boolean isIdle() {
        return posting.isEmpty();
    }

    private void onStored(PendingBlock block) {
        if (posting.remove(block.token()) != null) {
            pendingBytes -= block.frame().length;
            insertedRows.inc(block.rows());
        }
        postWaiting();
    }

    /** Called after each response of ClickHouse: during an outage at least one block is always being retried. */
    private void postWaiting() {
        if (!poster.isAway()) {
            waiting.drain().forEach(this::post);
        }
    }

    /**
     * The replacements of a refused block are inserted after the next checkpoint, like new rows. Until then the
     * checkpoint contains the refused block, and a restore starts with it again.
     */
    private void onRefused(PendingBlock block, String reason) {
        postWaiting();
        if (BlockKey.isDeadLetter(block)) {
            poster.postLater(block, "ClickHouse refuses dead letters and postings of refused rows: " + reason);
            return;
        }
        posting.remove(block.token());
        pendingBytes -= block.frame().length;
        if (refusedBlocks.exceedsSplitLimit(block)) {
            convertToDeadLetters(block, reason);
        } else {
            refusedBlocks.cut(block).stream().map(SealedBlock::piece).forEach(sealed::add);
        }
    }

    private void convertToDeadLetters(PendingBlock block, String reason) {
        LOG.error("{} rows become dead letters: ClickHouse refuses them: {}", block.rows(), reason);
        rejectedRows.inc(block.rows());
        for (RowBlock rows : refusedBlocks.convertToDeadLetters(block, reason, lastCheckpoint)) {
            add(rows, BlockKey.of(rows, true));
        }
    }

    /**
     * At a regular end, waits for the blocks of the last checkpoint. Blocks that are not stored remain in that
     * checkpoint.
     */
    @Override
    public void close() throws Exception {
        try (BlockInserter closing = poster) {
            if (closing != null) {
                closing.finish(LAST_POSTS);
            }
        } finally {
            super.close();
        }
    }
}
