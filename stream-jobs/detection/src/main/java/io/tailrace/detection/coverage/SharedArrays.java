package io.tailrace.detection.coverage;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import java.util.function.ToIntFunction;

/**
 * Returns the same array for equal ones. The arrays must not be changed. Thread-safe.
 *
 * <p>Memory: at most {@value #MOST} arrays that nothing else refers to any longer.
 *
 * @param <T> type of the arrays
 */
final class SharedArrays<T> {

    private static final int MOST = 1_000;

    private final ToIntFunction<T> hash;
    private final BiPredicate<T, T> equality;
    private final Map<Integer, T> latest = new ConcurrentHashMap<>();

    SharedArrays(ToIntFunction<T> hash, BiPredicate<T, T> equality) {
        this.hash = hash;
        this.equality = equality;
    }

    /** Returns the latest array with this hash if it is equal, else this one. */
    T shared(T array) {
        int key = hash.applyAsInt(array);
        T known = latest.get(key);
        if (known != null && equality.test(known, array)) {
            return known;
        }
        if (latest.size() >= MOST) {
            latest.clear();
        }
        latest.put(key, array);
        return array;
    }
}
