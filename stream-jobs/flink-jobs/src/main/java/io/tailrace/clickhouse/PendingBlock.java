package io.tailrace.clickhouse;

/**
 * A sealed block that is not yet known to be stored. The committer keeps it in its state.
 *
 * @param token ClickHouse's {@code insert_deduplication_token}: random, generated when the block was sealed, and part
 *     of the checkpoint. ClickHouse stores the block once, regardless of the number of inserts
 * @param layout a {@code RowLayout#text()}
 * @param rows number of rows
 * @param size length of the rows before compression, in bytes
 * @param frame the rows as RowBinary in one LZ4 frame
 */
// Checkpoints contain the names of this class and of its components: do not rename or move them.
public record PendingBlock(String token, String layout, int rows, int size, byte[] frame) {}
