package io.tailrace.reassembly.state;

/**
 * Stores the state of one log as numbered byte arrays. Small ones are rewritten when they change; large ones (pending
 * lines, hashes of a finished segment) are written once and removed once.
 */
public interface StateStore {

    /** Returns what is stored under a number, or null. The caller must not change the array. */
    byte[] get(long id);

    /** Stores bytes, replacing existing ones. The caller does not change the array afterwards. */
    void put(long id, byte[] bytes);

    /** Removes a number. */
    void remove(long id);
}
