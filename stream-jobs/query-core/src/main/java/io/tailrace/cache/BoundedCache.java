package io.tailrace.cache;

import java.util.LinkedHashMap;
import java.util.Map;

/** A map with a limit. A new entry removes the one that was not used for the longest time. Not thread-safe. */
public final class BoundedCache<K, V> extends LinkedHashMap<K, V> {

    private static final long serialVersionUID = 1L;

    private final int limit;

    /** @param limit maximum number of entries */
    public BoundedCache(int limit) {
        super(16, 0.75f, true);
        this.limit = limit;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > limit;
    }
}
