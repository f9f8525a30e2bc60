package io.tailrace.flink.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class UnsentBlocksTest {

    private static final String EVENTS = "tailrace.query_events\nid UInt64";
    private static final String LEDGER = "tailrace.ledger\nid UInt64";

    private final UnsentBlocks blocks = new UnsentBlocks();

    @Test
    void theSizeIsTheNumberOfBlocks() {
        for (int i = 0; i < UnsentBlocks.MERGED_FROM; i++) {
            add(EVENTS);
        }
        add(LEDGER);
        assertSize(UnsentBlocks.MERGED_FROM + 1);
        assertThat(blocks.merge()).hasSize(1);
        assertSize(1);
        add(EVENTS);
        assertSize(2);
        assertThat(blocks.drain()).hasSize(2);
        assertSize(0);
    }

    private void add(String layout) {
        RowBlock row = new RowBlock(layout, 0, 1, new byte[Long.BYTES]);
        BlockKey target = BlockKey.of(row, false);
        BlockBuilder block = new BlockBuilder(layout);
        block.add(row);
        blocks.add(target, target.seal(block));
    }

    private void assertSize(int expected) {
        assertThat(blocks.size()).isEqualTo(blocks.all().size()).isEqualTo(expected);
    }
}
