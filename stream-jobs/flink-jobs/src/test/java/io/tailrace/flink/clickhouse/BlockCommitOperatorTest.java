package io.tailrace.flink.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.clickhouse.PendingBlock;
import io.tailrace.servers.Await;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.runtime.tasks.mailbox.Mail;
import org.apache.flink.streaming.runtime.tasks.mailbox.TaskMailbox;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BlockCommitOperatorTest {

    private static final String EVENTS = "tailrace.query_events\nid UInt64";
    private static final String LEDGER = "tailrace.ledger\nid UInt64";
    private static final long MAX_PENDING = 1 << 20;
    private static final Duration SOON = Duration.ofSeconds(300);

    /** Operators are created from serialized factories, which find the store here. */
    private static TokenStore store;

    private OneInputStreamOperatorTestHarness<RowBlock, Void> committer;

    @BeforeEach
    void start() throws Exception {
        store = new TokenStore();
        committer = committer();
        committer.open();
    }

    @AfterEach
    void stop() throws Exception {
        committer.close();
    }

    private static OneInputStreamOperatorTestHarness<RowBlock, Void> committer() throws Exception {
        CommitterConfig settings = new CommitterConfig(() -> store, "tailrace", 2, MAX_PENDING, "1");
        return new OneInputStreamOperatorTestHarness<>(new BlockCommitOperatorFactory(settings), 1, 1, 0);
    }

    @Test
    void nothingIsPostedBeforeItsCheckpointIsComplete() throws Exception {
        committer.processElement(rows(EVENTS, 0, 3), 0);
        committer.snapshot(1, 0);
        assertThat(store.attempts()).isZero();
        committer.notifyOfCompletedCheckpoint(1);
        awaitMails("rows stored", () -> store.storedRows() == 3);
    }

    @Test
    void blocksOfOneTableAndDayBecomeOneInsert() throws Exception {
        committer.processElement(rows(EVENTS, 0, 3), 0);
        committer.processElement(rows(LEDGER, 0, 1), 0);
        committer.processElement(rows(EVENTS, 0, 4), 0);
        committer.processElement(rows(EVENTS, 1, 5), 0);
        committer.snapshot(1, 0);
        committer.notifyOfCompletedCheckpoint(1);
        awaitMails("rows stored", () -> store.storedRows() == 13);
        assertThat(store.stored()).extracting(PendingBlock::rows).containsExactlyInAnyOrder(7, 1, 5);
    }

    @Test
    void aFullBlockIsFollowedByAnother() throws Exception {
        committer.processElement(rows(EVENTS, 0, BlockBuilder.MAX_ROWS), 0);
        committer.processElement(rows(EVENTS, 0, 1), 0);
        committer.snapshot(1, 0);
        committer.notifyOfCompletedCheckpoint(1);
        awaitMails("rows stored", () -> store.storedRows() == BlockBuilder.MAX_ROWS + 1);
        assertThat(store.stored()).hasSize(2);
    }

    @Test
    void aCheckpointThatNeverCompletesLeavesItsRowsToTheNext() throws Exception {
        committer.processElement(rows(EVENTS, 0, 3), 0);
        committer.snapshot(1, 0);
        committer.processElement(rows(EVENTS, 0, 4), 0);
        committer.snapshot(2, 0);
        committer.notifyOfCompletedCheckpoint(2);
        awaitMails("rows stored", () -> store.storedRows() == 7);
    }

    @Test
    void aRestorePostsTheSameTokensAgain() throws Exception {
        committer.processElement(rows(EVENTS, 0, 3), 0);
        OperatorSubtaskState state = committer.snapshot(1, 0);
        committer.notifyOfCompletedCheckpoint(1);
        awaitMails("rows stored", () -> store.storedRows() == 3);
        int before = store.attempts();
        restart(state);
        awaitMails("posted again", () -> store.attempts() > before);
        assertThat(store.storedRows()).isEqualTo(3);
    }

    @Test
    void aRepetitionIsStoredAlthoughReplicasGaveItUpWhenTheyAnswered() throws Exception {
        store.setAway(true);
        committer.processElement(rows(EVENTS, 0, 3), 0);
        OperatorSubtaskState state = committer.snapshot(1, 0);
        committer.notifyOfCompletedCheckpoint(1);
        awaitMails("the store to be found away", () -> store.attempts() > 0);
        store.answerFalsely();
        store.setAway(false);
        awaitMails("rows stored", () -> store.storedRows() == 3);

        store = new TokenStore();
        store.answerFalsely();
        restart(state);
        awaitMails("rows of the checkpoint stored", () -> store.storedRows() == 3);
    }

    @Test
    void rowsAfterTheCheckpointAreNotInItsState() throws Exception {
        committer.processElement(rows(EVENTS, 0, 3), 0);
        OperatorSubtaskState state = committer.snapshot(1, 0);
        committer.processElement(rows(EVENTS, 0, 100), 0);
        restart(state);
        awaitMails("rows stored", () -> store.storedRows() == 3);
    }

    @Test
    void anOutageStopsNoCheckpointAndLosesNothing() throws Exception {
        store.setAway(true);
        for (int checkpoint = 1; checkpoint <= 5; checkpoint++) {
            committer.processElement(rows(EVENTS, 0, 2), 0);
            committer.snapshot(checkpoint, 0);
            committer.notifyOfCompletedCheckpoint(checkpoint);
        }
        awaitMails("some attempts", () -> store.attempts() > 3);
        restart(committer.snapshot(6, 0));
        assertThat(store.storedRows()).isZero();
        store.setAway(false);
        awaitMails("rows stored", () -> store.storedRows() == 10);
    }

    @Test
    void smallBlocksOfALongOutageBecomeFew() throws Exception {
        outage(1, 600);
        store.setAway(false);
        awaitMails("rows stored", () -> store.storedRows() == 600);
        assertThat(store.stored()).hasSizeLessThan(3 * UnsentBlocks.MERGED_FROM);
        assertThat(store.storedIds()).hasSize(600).doesNotHaveDuplicates();
    }

    @Test
    void aRestartAtAnyMomentOfAnOutageStoresEveryRowOnce() throws Exception {
        for (int last = UnsentBlocks.MERGED_FROM - 2; last <= UnsentBlocks.MERGED_FROM + 3; last++) {
            store = new TokenStore();
            restart(null);
            OperatorSubtaskState complete = outage(1, last);
            committer.snapshot(last + 1, 0);
            store.setAway(false);
            int rows = last;
            awaitMails("what may be stored is", () -> store.storedRows() > 0);
            awaitMails("the posts", this::nothingIsBeingPosted);
            restart(complete);
            awaitMails("rows stored", () -> store.storedRows() == rows);
            assertThat(store.storedIds()).hasSize(rows).doesNotHaveDuplicates();
        }
    }

    /** Writes one row, its number, in each of these checkpoints, all complete; returns the state of the last. */
    private OperatorSubtaskState outage(int first, int last) throws Exception {
        store.setAway(true);
        OperatorSubtaskState state = null;
        for (int checkpoint = first; checkpoint <= last; checkpoint++) {
            RowBinaryBuffer out = new RowBinaryBuffer(Long.BYTES);
            out.writeLong(checkpoint);
            committer.processElement(new RowBlock(EVENTS, 0, 1, out.toByteArray()), 0);
            state = committer.snapshot(checkpoint, 0);
            committer.notifyOfCompletedCheckpoint(checkpoint);
            // The inserter knows that the store is away when it tries a block again, not yet during the first attempt.
            awaitMails("the store to be found away", () -> store.attempts() > 1);
        }
        return state;
    }

    @Test
    void whatIsStoredLeavesTheState() throws Exception {
        committer.processElement(rows(EVENTS, 0, 3), 0);
        committer.snapshot(1, 0);
        committer.notifyOfCompletedCheckpoint(1);
        awaitMails("rows stored", () -> store.storedRows() == 3);
        awaitMails("the block to be forgotten", this::nothingIsBeingPosted);
        int before = store.attempts();
        restart(committer.snapshot(2, 0));
        committer.processElement(rows(LEDGER, 0, 1), 0);
        committer.snapshot(3, 0);
        committer.notifyOfCompletedCheckpoint(3);
        awaitMails("the new row stored", () -> store.storedRows() == 4);
        assertThat(store.attempts()).isEqualTo(before + 1);
    }

    @Test
    void aFullBufferWaitsForTheStore() throws Exception {
        store.setAway(true);
        committer.processElement(noise(2 * (int) MAX_PENDING), 0);
        committer.snapshot(1, 0);
        committer.notifyOfCompletedCheckpoint(1);
        Thread rescue = new Thread(() -> store.setAway(false));
        rescue.start();
        committer.processElement(rows(EVENTS, 0, 1), 0);
        rescue.join();
        assertThat(store.storedRows()).isEqualTo(1);
    }

    @Test
    void onlyThePoisonousRowOfABlockIsPutAway() throws Exception {
        committer.processElement(numbered(5000, 4321), 0);
        completeCheckpoints(1, () -> !store.storedIn("tailrace.ledger").isEmpty());
        assertThat(store.storedIds()).hasSize(4999).doesNotHaveDuplicates();
        assertThat(store.storedIn("tailrace.dead_letters"))
                .extracting(PendingBlock::rows)
                .containsExactly(1);
        assertThat(textOf(store.storedIn("tailrace.dead_letters").get(0)))
                .contains("REFUSED_BY_STORE", "SINK", "VIOLATED_CONSTRAINT");
    }

    @Test
    void aRestartAtAnyCheckpointOfTheSearchStoresEveryRowOnce() throws Exception {
        for (int checkpoints = 1; checkpoints <= 5; checkpoints++) {
            store = new TokenStore();
            restart(null);
            committer.processElement(numbered(5000, 17), 0);
            OperatorSubtaskState state = null;
            for (int id = 1; id <= checkpoints; id++) {
                state = committer.snapshot(id, 0);
                committer.notifyOfCompletedCheckpoint(id);
                awaitMails("the posts of checkpoint " + id, this::nothingIsBeingPosted);
            }
            restart(state);
            completeCheckpoints(
                    checkpoints + 1, () -> !store.storedIn("tailrace.ledger").isEmpty());
            assertThat(store.storedIds()).hasSize(4999).doesNotHaveDuplicates();
            assertThat(store.storedIn("tailrace.dead_letters")).hasSize(1);
            assertThat(store.storedIn("tailrace.ledger")).hasSize(1);
        }
    }

    @Test
    void aBlockOfOnlyInvalidRowsIsNotSplitIndefinitely() throws Exception {
        RowBinaryBuffer out = new RowBinaryBuffer(1024);
        int rows = 50_000;
        for (int i = 0; i < rows; i++) {
            out.writeLong(TokenStore.POISON);
        }
        committer.processElement(new RowBlock(EVENTS, 0, rows, out.toByteArray()), 0);
        completeCheckpoints(
                1,
                () -> store.storedIn("tailrace.dead_letters").stream()
                                .mapToInt(PendingBlock::rows)
                                .sum()
                        == rows);
        assertThat(store.attempts()).isLessThan(10_000);
    }

    private static RowBlock numbered(int rows, int poisonous) {
        RowBinaryBuffer out = new RowBinaryBuffer(1024);
        for (int i = 0; i < rows; i++) {
            out.writeLong(i == poisonous ? TokenStore.POISON : i);
        }
        return new RowBlock(EVENTS, 0, rows, out.toByteArray());
    }

    private static String textOf(PendingBlock block) {
        return new String(BlockBuilder.rowsOf(block), StandardCharsets.ISO_8859_1);
    }

    /** Completes checkpoints from an id on until the condition is true. */
    private void completeCheckpoints(int first, Callable<Boolean> condition) throws Exception {
        for (int id = first; !condition.call(); id++) {
            assertThat(id).as("checkpoints").isLessThan(first + 50);
            committer.snapshot(id, 0);
            committer.notifyOfCompletedCheckpoint(id);
            awaitMails("the posts of checkpoint " + id, this::nothingIsBeingPosted);
        }
    }

    private boolean nothingIsBeingPosted() {
        return ((BlockCommitOperator) committer.getOneInputOperator()).isIdle();
    }

    private void restart(OperatorSubtaskState state) throws Exception {
        committer.close();
        committer = committer();
        if (state != null) {
            committer.setRestoredCheckpointId(1);
            committer.initializeState(state);
        }
        committer.open();
    }

    /** Runs the callbacks of the inserter's threads until the condition is true. */
    private void awaitMails(String what, Callable<Boolean> condition) throws Exception {
        Await.until(what, SOON, () -> {
            boolean holds = condition.call();
            TaskMailbox mailbox = committer.getTaskMailbox();
            for (Optional<Mail> mail = mailbox.tryTake(0); mail.isPresent(); mail = mailbox.tryTake(0)) {
                mail.get().run();
            }
            return holds;
        });
    }

    private static RowBlock rows(String layout, int day, int count) {
        return new RowBlock(layout, day, count, new byte[8 * count]);
    }

    private static RowBlock noise(int size) {
        byte[] bytes = new byte[size];
        new java.util.Random(1).nextBytes(bytes);
        return new RowBlock(EVENTS, 0, 1, bytes);
    }
}
