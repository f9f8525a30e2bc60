package io.tailrace.fingerprint;

import io.tailrace.lexer.ByteText;
import java.util.Arrays;

/**
 * Caches the classes of masked statements. Most statements of a log are of few classes, and a cached text needs
 * neither the second step nor a digest. The key is the whole text, so a hit is exact. The size is bounded: a full
 * cache is cleared. Not thread-safe.
 */
final class ShapeCache {

    /** Longest text that is cached, bytes. */
    static final int MAX_KEY_LENGTH = 8 << 10;

    /** Maximum size of all texts, bytes. */
    private static final int MAX_BYTES = 8 << 20;

    private static final int FIRST_SLOTS = 1 << 10;
    private static final int MAX_SLOTS = 1 << 17;

    private int[] hashes = new int[FIRST_SLOTS];
    private byte[][] keys = new byte[FIRST_SLOTS][];
    private NormalizedStatement[] shapes = new NormalizedStatement[FIRST_SLOTS];
    private int used;
    private int keyBytes;

    /** Returns the class of the text in the range, or null if it is not cached. */
    NormalizedStatement get(byte[] bytes, int from, int to) {
        int hash = ByteText.hash(bytes, from, to);
        int slot = hash & keys.length - 1;
        while (keys[slot] != null) {
            byte[] key = keys[slot];
            if (hashes[slot] == hash && Arrays.equals(key, 0, key.length, bytes, from, to)) {
                return shapes[slot];
            }
            slot = slot + 1 & keys.length - 1;
        }
        return null;
    }

    /** Caches the class of a text that is not cached yet. */
    void put(byte[] bytes, int from, int to, NormalizedStatement shape) {
        if (to - from > MAX_KEY_LENGTH) {
            return;
        }
        if (used * 2 >= keys.length || keyBytes + to - from > MAX_BYTES) {
            makeRoom(to - from);
        }
        put(ByteText.hash(bytes, from, to), Arrays.copyOfRange(bytes, from, to), shape);
    }

    private void put(int hash, byte[] key, NormalizedStatement shape) {
        int slot = hash & keys.length - 1;
        while (keys[slot] != null) {
            slot = slot + 1 & keys.length - 1;
        }
        hashes[slot] = hash;
        keys[slot] = key;
        shapes[slot] = shape;
        used++;
        keyBytes += key.length;
    }

    private void makeRoom(int more) {
        int[] oldHashes = hashes;
        byte[][] oldKeys = keys;
        NormalizedStatement[] oldShapes = shapes;
        boolean full = keys.length == MAX_SLOTS || keyBytes + more > MAX_BYTES;
        int slots = full ? keys.length : keys.length * 2;
        hashes = new int[slots];
        keys = new byte[slots][];
        shapes = new NormalizedStatement[slots];
        used = 0;
        keyBytes = 0;
        for (int i = 0; i < oldKeys.length && !full; i++) {
            if (oldKeys[i] != null) {
                put(oldHashes[i], oldKeys[i], oldShapes[i]);
            }
        }
    }
}
