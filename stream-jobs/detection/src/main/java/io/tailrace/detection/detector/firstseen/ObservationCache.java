package io.tailrace.detection.detector.firstseen;

import java.util.Arrays;

/**
 * Filters out recent observations that would change no state, so that most events are not sent to the state. An entry
 * that is evicted only causes one more observation. The cache compares texts, not hashes, so one name cannot hide
 * another.
 */
public final class ObservationCache {

    private static final int PLACES = 1 << 12;
    /** Number of places per observation, so that two observations that alternate do not evict each other. */
    private static final int WAYS = 4;

    private final Entry[] places = new Entry[PLACES];
    private final long periodMicros;
    private int victim;

    private record Entry(long period, String[] texts) {}

    /** @param periodMicros length of a period in microseconds; an observation is passed on once per period */
    public ObservationCache(long periodMicros) {
        this.periodMicros = periodMicros;
    }

    /** Returns whether these texts are new in the period of this time, and remembers them. */
    public boolean isNew(long micros, String... texts) {
        long period = Math.floorDiv(micros, periodMicros);
        int hash = 31 * Arrays.hashCode(texts) + Long.hashCode(period);
        int first = (hash ^ hash >>> 15) & PLACES - WAYS;
        for (int place = first; place < first + WAYS; place++) {
            Entry entry = places[place];
            if (entry != null && entry.period == period && Arrays.equals(entry.texts, texts)) {
                return false;
            }
        }
        victim = (victim + 1) % WAYS;
        places[first + victim] = new Entry(period, texts.clone());
        return true;
    }
}
