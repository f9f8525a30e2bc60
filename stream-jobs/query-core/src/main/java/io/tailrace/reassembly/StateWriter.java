package io.tailrace.reassembly;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Encodes state: numbers as zigzag variable-length integers; texts and byte arrays with their length as prefix. */
final class StateWriter {

    /** Assigns the numbers of stored byte arrays, and collects those to remove with the next save. */
    static final class Ids {
        private long next = 1;
        private List<Long> released = new ArrayList<>();

        void restore(long savedNext) {
            next = savedNext;
        }

        long next() {
            return next;
        }

        void release(long id) {
            if (id != 0) {
                released.add(id);
            }
        }
    }

    private final StateStore store;
    private final Ids ids;
    private byte[] bytes = new byte[256];
    private int length;

    StateWriter(StateStore store, Ids ids) {
        this.store = store;
        this.ids = ids;
    }

    /** Creates a writer of another array in the same store. */
    StateWriter another() {
        return new StateWriter(store, ids);
    }

    /** Stores an array under a new number and returns the number. */
    long store(byte[] content) {
        long id = ids.next++;
        store.put(id, content);
        return id;
    }

    /** Stores what was written under that number, and removes what was released since the last save. */
    void finish(long id) {
        store.put(id, toBytes());
        ids.released.forEach(store::remove);
        ids.released = new ArrayList<>();
    }

    byte[] toBytes() {
        return Arrays.copyOf(bytes, length);
    }

    void number(long value) {
        ensure(10);
        long rest = (value << 1) ^ (value >> 63);
        while ((rest & ~0x7fL) != 0) {
            bytes[length++] = (byte) (rest & 0x7f | 0x80);
            rest >>>= 7;
        }
        bytes[length++] = (byte) rest;
    }

    void flag(boolean value) {
        number(value ? 1 : 0);
    }

    void bytes(byte[] value, int from, int to) {
        number(to - from);
        ensure(to - from);
        System.arraycopy(value, from, bytes, length, to - from);
        length += to - from;
    }

    /** Writes an array; null and empty are distinguished. */
    void bytes(byte[] value) {
        flag(value != null);
        if (value != null) {
            bytes(value, 0, value.length);
        }
    }

    void text(String value) {
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        bytes(utf8, 0, utf8.length);
    }

    private void ensure(int more) {
        if (bytes.length - length < more) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + more));
        }
    }
}
