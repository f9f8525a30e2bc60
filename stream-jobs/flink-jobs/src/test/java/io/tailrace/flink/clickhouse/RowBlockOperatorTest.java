package io.tailrace.flink.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.LedgerEntry;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;

class RowBlockOperatorTest {

    @Test
    void everyDayHasItsOwnBlockAndAllLeaveBeforeTheBarrier() throws Exception {
        try (var operator = operator()) {
            operator.open();
            operator.processElement(onDay(0), 0);
            operator.processElement(onDay(1), 0);
            operator.processElement(onDay(0), 0);
            assertThat(operator.extractOutputValues()).isEmpty();
            operator.prepareSnapshotPreBarrier(1);
            assertThat(operator.extractOutputValues())
                    .extracting(RowBlock::rows)
                    .containsExactlyInAnyOrder(2, 1);
            assertThat(operator.extractOutputValues()).extracting(RowBlock::day).doesNotHaveDuplicates();
        }
    }

    @Test
    void aLargeBlockDoesNotWaitForTheBarrier() throws Exception {
        try (var operator = operator()) {
            operator.open();
            for (int i = 0; i < 5000; i++) {
                operator.processElement(onDay(0), 0);
            }
            int sent = operator.extractOutputValues().stream()
                    .mapToInt(RowBlock::rows)
                    .sum();
            assertThat(sent).isBetween(1, 4999);
            operator.prepareSnapshotPreBarrier(1);
            assertThat(operator.extractOutputValues().stream()
                            .mapToInt(RowBlock::rows)
                            .sum())
                    .isEqualTo(5000);
        }
    }

    @Test
    void rowsKnowTheCheckpointThatTheyFollow() throws Exception {
        OperatorSubtaskState state;
        try (var operator = operator()) {
            operator.open();
            state = operator.snapshot(7, 0);
        }
        try (var operator = operator()) {
            operator.initializeState(state);
            operator.open();
            operator.processElement(onDay(0), 0);
            operator.prepareSnapshotPreBarrier(8);
            operator.processElement(onDay(0), 0);
            operator.prepareSnapshotPreBarrier(9);
            assertThat(afterCheckpoints(operator.extractOutputValues())).containsExactly(7L, 8L);
        }
    }

    /** {@code after_checkpoint} is the last column, so the last eight bytes of a block of one row. */
    private static List<Long> afterCheckpoints(List<RowBlock> blocks) {
        return blocks.stream()
                .map(block -> ByteBuffer.wrap(block.bytes())
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .getLong(block.bytes().length - Long.BYTES))
                .toList();
    }

    private static OneInputStreamOperatorTestHarness<LedgerEntry, RowBlock> operator() throws Exception {
        return new OneInputStreamOperatorTestHarness<>(
                new RowBlockOperator<>("tailrace.ledger", LedgerEntry.class), 1, 1, 0);
    }

    private static LedgerEntry onDay(int day) {
        LedgerEntry posting = Rows.posting(0);
        posting.setAt(Rows.TODAY.plus(Duration.ofDays(day)));
        return posting;
    }
}
