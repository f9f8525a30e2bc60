package io.tailrace.flink.clickhouse;

/**
 * Encoded rows of one table and one partition day, on their way to the committer.
 *
 * @param layout a {@link RowLayout#text()}
 * @param day UTC day of every row, in days since 1970-01-01
 * @param rows number of rows
 * @param bytes the rows as RowBinary
 */
public record RowBlock(String layout, int day, int rows, byte[] bytes) {}
