package io.tailrace.reassembly.state;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Encodes state: numbers as zigzag variable-length integers; texts and byte arrays with their length as prefix. */
public final class StateWriter {

    /** Assigns the numbers of stored byte arrays, and collects those to remove with the next save. */
    public static final class Ids {
        private long next = 1;
        private List<Long> released = new ArrayList<>();

        public void restore(long savedNext) {
            next = savedNext;
        }

        public long next() {
            return next;
        }

        public void release(long id) {
            if (id != 0) {
                released.add(id);
            }
        }
    }

    private final StateStore store;
    private final Ids ids;
    private byte[] bytes = new byte[256];
    private int length;

    public StateWriter(StateStore store, Ids ids) {
        this.store = store;
        this.ids = ids;
    }

    /** Creates a writer of another array in the same store. */
    public StateWriter another() {
        return new StateWriter(store, ids);
    }

    /** Stores an array under a new number and returns the number. */
    public long store(byte[] content) {
        long id = ids.next++;
        store.put(id, content);
        return id;
    }

    /** Stores what was written under that number, and removes what was released since the last save. */
    public void finish(long id) {
        store.put(id, toBytes());
        ids.released.forEach(store::remove);
        ids.released = new ArrayList<>();
    }

    public byte[] toBytes() {
        return Arrays.copyOf(bytes, length);
    }

    public void number(long value) {
        ensure(10);
        long rest = (value << 1) ^ (value >> 63);
        while ((rest & ~0x7fL) != 0) {
            bytes[length++] = (byte) (rest & 0x7f | 0x80);
            rest >>>= 7;
        }
        bytes[length++] = (byte) rest;
    }

    public void flag(boolean value) {
        number(value ? 1 : 0);
    }

    public void bytes(byte[] value, int from, int to) {
        number(to - from);
        ensure(to - from);
        System.arraycopy(value, from, bytes, length, to - from);
        length += to - from;
    }

    /** Writes an array; null and empty are distinguished. */
    public void bytes(byte[] value) {
        flag(value != null);
        if (value != null) {
            bytes(value, 0, value.length);
        }
    }

    public void text(String value) {
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        bytes(utf8, 0, utf8.length);
    }

    private void ensure(int more) {
        if (bytes.length - length < more) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + more));
        }
    }
}
