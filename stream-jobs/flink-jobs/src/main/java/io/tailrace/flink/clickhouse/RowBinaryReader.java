package io.tailrace.flink.clickhouse;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Iterates over the RowBinary rows of {@link RowBinaryEncoder} and provides the bytes and column values of each. Not
 * thread-safe.
 */
final class RowBinaryReader {

    /** Returns the end of a value that begins at an offset. */
    @FunctionalInterface
    private interface Extent {
        int end(byte[] bytes, int from);
    }

    private static final String NULLABLE = "Nullable(";

    private final byte[] rows;
    private final Extent[] extents;
    private final int[] values;
    private final Map<String, Integer> columns = new HashMap<>();
    private int from;
    private int to;

    /** @throws IllegalArgumentException if a column has a type that {@link RowBinaryEncoder} does not write */
    RowBinaryReader(RowLayout layout, byte[] rows) {
        this.rows = rows;
        List<RowLayout.Column> all = layout.columns();
        extents = all.stream().map(column -> extent(column.type())).toArray(Extent[]::new);
        values = new int[extents.length];
        for (int i = 0; i < extents.length; i++) {
            columns.put(all.get(i).name(), i);
        }
    }

    /** Advances to the next row; returns false after the last one. */
    boolean next() {
        from = to;
        if (from == rows.length) {
            return false;
        }
        for (int i = 0; i < extents.length; i++) {
            values[i] = to;
            to = extents[i].end(rows, to);
        }
        return true;
    }

    /** Returns the row's bytes. */
    byte[] row() {
        return Arrays.copyOfRange(rows, from, to);
    }

    /** Returns whether rows have such a column. */
    boolean has(String column) {
        return columns.containsKey(column);
    }

    /** Returns the value of a String column; empty if rows have no such column. */
    String text(String column) {
        if (!has(column)) {
            return "";
        }
        int value = values[columns.get(column)];
        int length = length(rows, value);
        return new String(rows, behindLength(rows, value), length, StandardCharsets.UTF_8);
    }

    /** Returns the value of a 64-bit integer column; 0 if rows have no such column. */
    long number(String column) {
        return has(column) ? littleEndian().getLong(values[columns.get(column)]) : 0;
    }

    /** Returns the value of a Bool column, which must exist. */
    boolean flag(String column) {
        return rows[values[columns.get(column)]] != 0;
    }

    /** Returns the 16 bytes of a UUID column, which must exist, the highest first. */
    byte[] uuid(String column) {
        ByteBuffer halves = littleEndian();
        int value = values[columns.get(column)];
        return ByteBuffer.allocate(2 * Long.BYTES)
                .putLong(halves.getLong(value))
                .putLong(halves.getLong(value + Long.BYTES))
                .array();
    }

    private ByteBuffer littleEndian() {
        return ByteBuffer.wrap(rows).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static Extent extent(String type) {
        if (type.startsWith(NULLABLE)) {
            Extent inner = extent(type.substring(NULLABLE.length(), type.length() - 1));
            return (bytes, at) -> bytes[at] == 1 ? at + 1 : inner.end(bytes, at + 1);
        }
        return switch (type) {
            case "Bool" -> (bytes, at) -> at + 1;
            case "Int32", "UInt32" -> (bytes, at) -> at + Integer.BYTES;
            case "Int64", "UInt64", "Float64", RowBinaryEncoder.DATE_TIME, RowBinaryEncoder.NANO_TIME -> (bytes, at) ->
                    at + Long.BYTES;
            case "UUID" -> (bytes, at) -> at + 2 * Long.BYTES;
            case "String" -> RowBinaryReader::endOfString;
            case "Array(String)" -> (bytes, at) -> endOfStrings(bytes, at, 1);
            case RowBinaryEncoder.STRING_MAP -> RowBinaryReader::endOfStringMap;
            case RowBinaryEncoder.STRING_MAPS -> (bytes, at) -> endOfItems(bytes, at, RowBinaryReader::endOfStringMap);
            case RowBinaryEncoder.NANO_TIMES, RowBinaryEncoder.IDS -> (bytes, at) ->
                    endOfItems(bytes, at, (all, item) -> item + Long.BYTES);
            default -> throw new IllegalArgumentException("unexpected column type " + type);
        };
    }

    private static int endOfString(byte[] bytes, int at) {
        return behindLength(bytes, at) + length(bytes, at);
    }

    private static int endOfStringMap(byte[] bytes, int at) {
        return endOfStrings(bytes, at, 2);
    }

    private static int endOfItems(byte[] bytes, int at, Extent item) {
        int end = behindLength(bytes, at);
        for (int left = length(bytes, at); left > 0; left--) {
            end = item.end(bytes, end);
        }
        return end;
    }

    private static int endOfStrings(byte[] bytes, int at, int stringsPerItem) {
        int end = behindLength(bytes, at);
        for (int left = length(bytes, at) * stringsPerItem; left > 0; left--) {
            end = endOfString(bytes, end);
        }
        return end;
    }

    /** Reads an unsigned LEB128 number. */
    private static int length(byte[] bytes, int at) {
        int length = 0;
        int shift = 0;
        int next = at;
        do {
            length |= (bytes[next] & 0x7f) << shift;
            shift += 7;
        } while (bytes[next++] < 0);
        return length;
    }

    private static int behindLength(byte[] bytes, int at) {
        int next = at;
        while (bytes[next] < 0) {
            next++;
        }
        return next + 1;
    }
}
