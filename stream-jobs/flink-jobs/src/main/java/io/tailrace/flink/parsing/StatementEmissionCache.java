package io.tailrace.flink.parsing;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Remembers which statements' fingerprint and sample were passed on lately, so that each goes out now and then and
 * not with every entry. Lost at a restart, which costs one row per statement. Not thread-safe.
 *
 * <p>A fingerprint goes out once an hour, and with each new id that it had by the previous rules. A sample goes out when the statement is seen for the first time in ten
 * minutes, at once, and again within them when an execution takes at least twice as long as the one of the last
 * sample: the first answers soonest, the slow one is the one that is looked for. A plan goes out once an hour.
 */
public final class StatementEmissionCache {

    private static final int MAX_STATEMENTS = 50_000;
    private static final long FINGERPRINT_MILLIS = 3_600_000;
    private static final long SAMPLE_MILLIS = 600_000;
    private static final double SLOWER = 2;
    private static final int MAX_PLANS = 8;
    /** An account is written with quotes, without, and with others. */
    private static final int MAX_PREVIOUS = 16;

    private record Key(long queryId, String ruleSet) {}

    /** What was passed on of one statement. */
    public static final class Statement {
        private long fingerprintAt = Long.MIN_VALUE;
        private long sampleAt = Long.MIN_VALUE;
        private double sampleSeconds;
        private Map<String, Long> plansAt = Map.of();
        private Set<Long> previousIds = Set.of();

        /** Whether its fingerprint is to go out now, which is then taken as done. */
        public boolean takeFingerprint(long nowMillis) {
            boolean due = fingerprintAt == Long.MIN_VALUE || nowMillis - fingerprintAt >= FINGERPRINT_MILLIS;
            if (due) {
                fingerprintAt = nowMillis;
            }
            return due;
        }

        /**
         * The same; it goes out at once with an id by the previous rules that did not go out yet.
         *
         * @param previousId null where there is none
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

        /** @param plan on which server, and its hash */
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

        /** Whether {@link #takeSample} would take it. */
        boolean needsSample(long nowMillis, double seconds) {
            boolean slower = seconds > 0 && seconds >= SLOWER * sampleSeconds;
            return slower || isSampleDue(nowMillis);
        }

        private boolean isSampleDue(long nowMillis) {
            return sampleAt == Long.MIN_VALUE || nowMillis - sampleAt >= SAMPLE_MILLIS;
        }
    }

    private final Map<Key, Statement> statements = new LinkedHashMap<>(1024, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Statement> eldest) {
            return size() > MAX_STATEMENTS;
        }
    };

    /** What was passed on of a statement. */
    public Statement of(long queryId, String ruleSet) {
        return statements.computeIfAbsent(new Key(queryId, ruleSet), key -> new Statement());
    }
}
