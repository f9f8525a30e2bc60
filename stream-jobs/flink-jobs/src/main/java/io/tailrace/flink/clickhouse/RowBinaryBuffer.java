package io.tailrace.flink.clickhouse;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A growing buffer of ClickHouse RowBinary values: little-endian numbers, lengths as unsigned LEB128.
 *
 * <p>Not thread-safe.
 */
final class RowBinaryBuffer {

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int MAX_VARINT_BYTES = 5;

    private byte[] bytes;
    private int size;

    RowBinaryBuffer(int capacity) {
        bytes = new byte[capacity];
    }

    int size() {
        return size;
    }

    void clear() {
        size = 0;
    }

    byte[] toByteArray() {
        return Arrays.copyOf(bytes, size);
    }

    void writeByte(int value) {
        reserve(1);
        bytes[size++] = (byte) value;
    }

    void writeInt(int value) {
        reserve(Integer.BYTES);
        INT.set(bytes, size, value);
        size += Integer.BYTES;
    }

    void writeLong(long value) {
        reserve(Long.BYTES);
        LONG.set(bytes, size, value);
        size += Long.BYTES;
    }

    void writeDouble(double value) {
        writeLong(Double.doubleToRawLongBits(value));
    }

    void writeLength(int value) {
        reserve(MAX_VARINT_BYTES);
        int rest = value;
        while (rest >= 0x80) {
            bytes[size++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        bytes[size++] = (byte) rest;
    }

    /** Writes a String value. */
    void writeString(String value) {
        writeBytes(value.getBytes(StandardCharsets.UTF_8));
    }

    /** Writes a String value of any bytes. */
    void writeBytes(byte[] value) {
        writeLength(value.length);
        append(value);
    }

    /** Writes bytes without a length. */
    void append(byte[] value) {
        reserve(value.length);
        System.arraycopy(value, 0, bytes, size, value.length);
        size += value.length;
    }

    private void reserve(int count) {
        if (bytes.length - size < count) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + count));
        }
    }
}
