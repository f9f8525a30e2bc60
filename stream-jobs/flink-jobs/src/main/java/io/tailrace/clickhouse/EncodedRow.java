package io.tailrace.clickhouse;

import java.io.Serializable;

/**
 * A row that waits to be inserted.
 *
 * @param bytes as RowBinary
 */
record EncodedRow(byte[] bytes) implements Serializable {}
