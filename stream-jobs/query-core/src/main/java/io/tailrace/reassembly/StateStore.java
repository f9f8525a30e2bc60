package io.tailrace.reassembly;

/**
 * Keeps the state of one log as numbered byte arrays. Small ones are rewritten when they change, large ones
 * (pending lines, hashes of a finished segment) are written once and removed once.
 */
public interface StateStore {

    /** What was stored under a number; null when there is nothing. The array is not to be changed. */
    byte[] get(long id);

    /** Stores bytes, in place of what was there. The array is not changed afterwards. */
    void put(long id, byte[] bytes);

    /** Forgets a number. */
    void remove(long id);
}
