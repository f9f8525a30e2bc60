package io.tailrace.flink.parsing;

import io.tailrace.cache.BoundedCache;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Remembers when the fingerprint and the sample of each statement were last emitted, so that they are emitted
 * periodically instead of with every entry. It is lost at a restart, which costs one row per statement. Not
 * thread-safe.
 *
 * <p>A fingerprint is emitted once an hour, and with each new id by the previous rule set. A sample is emitted
 * immediately when the statement is seen for the first time in ten minutes, and again within them if an execution takes
 * at least twice as long as that of the last sample. The first sample is available soon, and the slow one is the most
 * useful. A plan is emitted once an hour.
 */
public final class StatementEmissionCache {

    private static final int MAX_STATEMENTS = 50_000;
    private static final long FINGERPRINT_MILLIS = 3_600_000;
    private static final long SAMPLE_MILLIS = 600_000;
    private static final double SLOWER = 2;
    private static final int MAX_PLANS = 8;
    /** Maximum number of previous ids, because accounts are written with and without quotes. */
    private static final int MAX_PREVIOUS = 16;

    private record Key(long queryId, String ruleSet) {}

    /** The emissions of one statement. */
    public static final class Statement {
        private long fingerprintAt = Long.MIN_VALUE;
        private long sampleAt = Long.MIN_VALUE;
        private double sampleSeconds;
        private Map<String, Long> plansAt = Map.of();
        private Set<Long> previousIds = Set.of();

        /** Returns whether its fingerprint is due, and then marks it as emitted. */
        public boolean takeFingerprint(long nowMillis) {
            boolean due = fingerprintAt == Long.MIN_VALUE || nowMillis - fingerprintAt >= FINGERPRINT_MILLIS;
            if (due) {
                fingerprintAt = nowMillis;
            }
            return due;
        }

        /**
         * Returns whether its fingerprint is due, also with a previous id that was not emitted yet, and then marks it
         * as emitted.
         *
         * @param previousId null if there is none
         */
        boolean takeFingerprint(long nowMillis, Long previousId) {
            boolean isNew = previousId != null && addPrevious(previousId);
            if (isNew) {
                fingerprintAt = nowMillis;
            }
            return isNew || takeFingerprint(nowMillis);
        }

        private boolean addPrevious(Long id) {
            if (previousIds.isEmpty()) {
                previousIds = new HashSet<>();
            }
            return previousIds.size() < MAX_PREVIOUS && previousIds.add(id);
        }

        /** @param plan server and hash of the plan */
        boolean takePlan(String plan, long nowMillis) {
            Long last = plansAt.get(plan);
            boolean due = last == null || nowMillis - last >= FINGERPRINT_MILLIS;
            if (due) {
                if (plansAt.isEmpty()) {
                    plansAt = new LinkedHashMap<>();
                } else if (plansAt.size() == MAX_PLANS && last == null) {
                    plansAt.remove(plansAt.keySet().iterator().next());
                }
                plansAt.put(plan, nowMillis);
            }
            return due;
        }

        boolean takeSample(long nowMillis, double seconds) {
            boolean wanted = needsSample(nowMillis, seconds);
            if (isSampleDue(nowMillis)) {
                sampleAt = nowMillis;
            }
            if (wanted) {
                sampleSeconds = seconds;
            }
            return wanted;
        }

        /** Returns whether {@link #takeSample} would return true. */
        boolean needsSample(long nowMillis, double seconds) {
            boolean slower = seconds > 0 && seconds >= SLOWER * sampleSeconds;
            return slower || isSampleDue(nowMillis);
        }

        private boolean isSampleDue(long nowMillis) {
            return sampleAt == Long.MIN_VALUE || nowMillis - sampleAt >= SAMPLE_MILLIS;
        }
    }

    private final Map<Key, Statement> statements = new BoundedCache<>(MAX_STATEMENTS);

    /** Returns the emissions of a statement. */
    public Statement of(long queryId, String ruleSet) {
        return statements.computeIfAbsent(new Key(queryId, ruleSet), key -> new Statement());
    }
}
