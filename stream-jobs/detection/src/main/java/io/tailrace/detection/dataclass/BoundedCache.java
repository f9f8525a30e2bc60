package io.tailrace.detection.dataclass;

import java.util.LinkedHashMap;
import java.util.Map;

/** Caches the most recent results by their inputs. */
final class BoundedCache<K, V> extends LinkedHashMap<K, V> {

    private static final long serialVersionUID = 1L;

    private final int limit;

    BoundedCache(int limit) {
        super(16, 0.75f, true);
        this.limit = limit;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > limit;
    }
}
