package io.tailrace.detection.detector.firstseen;

import java.util.Arrays;

/**
 * What was observed a moment ago and would change no state: most events say nothing new, and need not go to where the
 * state is. Forgets what it has no place for, which only costs an observation more. Texts are compared, not hashes: a
 * name cannot hide behind another one.
 */
public final class ObservationCache {

    private static final int PLACES = 1 << 12;
    /** Places that an observation may have: two that always come in turn do not drive each other out. */
    private static final int WAYS = 4;

    private final Entry[] places = new Entry[PLACES];
    private final long periodMicros;
    private int victim;

    private record Entry(long period, String[] texts) {}

    /** @param periodMicros what was observed is observed again in the next period */
    public ObservationCache(long periodMicros) {
        this.periodMicros = periodMicros;
    }

    /** Whether these texts were not observed in the period of this time yet; they are now. */
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
