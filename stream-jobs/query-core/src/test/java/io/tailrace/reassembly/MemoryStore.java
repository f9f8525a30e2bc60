package io.tailrace.reassembly;

import io.tailrace.reassembly.state.StateStore;
import java.util.HashMap;
import java.util.Map;

/** Stores the state of one log in memory. */
final class MemoryStore implements StateStore {

    private final Map<Long, byte[]> stored = new HashMap<>();

    @Override
    public byte[] get(long id) {
        return stored.get(id);
    }

    @Override
    public void put(long id, byte[] bytes) {
        stored.put(id, bytes.clone());
    }

    @Override
    public void remove(long id) {
        stored.remove(id);
    }

    int size() {
        return stored.size();
    }
}
