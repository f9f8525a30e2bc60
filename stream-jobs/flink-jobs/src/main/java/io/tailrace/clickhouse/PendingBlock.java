package io.tailrace.clickhouse;

/**
 * A block that is sealed and not yet known to be stored: what the committer keeps in its state.
 *
 * @param token ClickHouse's {@code insert_deduplication_token}: random, made when the block was sealed, and in the
 *     checkpoint with it. However often the block is posted, it is stored once
 * @param layout a {@code RowLayout#text()}
 * @param rows number of rows
 * @param size length of the rows before compression, in bytes
 * @param frame the rows as RowBinary in one LZ4 frame
 */
// The names of this class and of its components are in checkpoints: do not rename or move them.
public record PendingBlock(String token, String layout, int rows, int size, byte[] frame) {}
