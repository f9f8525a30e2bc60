package io.tailrace.reassembly.state;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Decodes what {@link StateWriter} encoded. */
public final class StateReader {

    private final StateStore store;
    private final byte[] bytes;
    private final int version;
    private int position;

    /** @param version of the layout, see {@link StateVersion} */
    public StateReader(StateStore store, byte[] bytes, int version) {
        this.store = store;
        this.bytes = bytes;
        this.version = version;
    }

    /** Version of the layout. */
    public int version() {
        return version;
    }

    /** Opens an array that was stored under a separate number. */
    public StateReader open(long id) {
        return new StateReader(store, stored(id), version);
    }

    /** Returns the array stored under a number; throws {@link IllegalStateException} if it is missing. */
    public byte[] stored(long id) {
        byte[] found = store.get(id);
        if (found == null) {
            throw new IllegalStateException("the state refers to the stored bytes " + id + ", which are missing");
        }
        return found;
    }

    public long number() {
        long value = 0;
        int shift = 0;
        byte next;
        do {
            next = bytes[position++];
            value |= (next & 0x7fL) << shift;
            shift += 7;
        } while (next < 0);
        return (value >>> 1) ^ -(value & 1);
    }

    public int count() {
        return Math.toIntExact(number());
    }

    public boolean flag() {
        return number() != 0;
    }

    public byte[] bytes() {
        return flag() ? plainBytes() : null;
    }

    public String text() {
        return new String(plainBytes(), StandardCharsets.UTF_8);
    }

    /** Returns what {@link StateWriter#bytes(byte[], int, int)} wrote. */
    public byte[] plain() {
        return plainBytes();
    }

    private byte[] plainBytes() {
        int size = count();
        position += size;
        return Arrays.copyOfRange(bytes, position - size, position);
    }
}
