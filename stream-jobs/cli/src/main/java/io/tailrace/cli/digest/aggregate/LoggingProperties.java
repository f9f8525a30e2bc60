package io.tailrace.cli.digest.aggregate;

import io.tailrace.event.QueryEvent;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** What logs tell about how they were written: from which duration on, and of how many statements one. */
public final class LoggingProperties {

    private static final double[] COMMON_THRESHOLDS = {
        60, 30, 20, 15, 10, 5, 4, 3, 2, 1.5, 1, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002,
        0.001
    };
    /** How much a threshold may lie below the fastest statement, part of it. */
    private static final double NEAR = 0.25;

    private final Set<String> rateTypes = new TreeSet<>();
    private double minWeight = Double.POSITIVE_INFINITY;
    private double maxWeight;
    private String lastRateType;
    private double fastest = Double.POSITIVE_INFINITY;
    private long minExamined = Long.MAX_VALUE;
    private long otherZone;

    void add(QueryEvent event) {
        if (event.getFlags().contains("zone_doubtful")) {
            otherZone++;
        }
        fastest = Math.min(fastest, event.getQueryTime());
        minExamined = Math.min(minExamined, event.getRowsExamined());
        double weight = event.getWeight();
        minWeight = Math.min(minWeight, weight);
        maxWeight = Math.max(maxWeight, weight);
        if (weight != 1) {
            rateType(event.getAttributes().get("Log_slow_rate_type"));
        }
    }

    private void rateType(String type) {
        if (type != null && !type.equals(lastRateType)) {
            lastRateType = type;
            rateTypes.add(type);
        }
    }

    /** Shortest query time of all entries, those that a filter leaves out too, seconds. */
    public double fastest() {
        return fastest;
    }

    public long minExamined() {
        return minExamined;
    }

    /** Entries whose local time and SET timestamp are apart by what lies between two zones. */
    public long otherZone() {
        return otherZone;
    }

    public boolean isSampled() {
        return maxWeight > 1;
    }

    /** What {@code Log_slow_rate_limit} was: one value or the smallest and largest. */
    public List<Double> rateLimits() {
        return minWeight == maxWeight ? List.of(minWeight) : List.of(minWeight, maxWeight);
    }

    /** {@code session} or {@code query}, as Percona Server says; empty if the log does not contain it. */
    public List<String> rateTypes() {
        return List.copyOf(rateTypes);
    }

    /**
     * The {@code long_query_time} that the fastest statement suggests, seconds: 0 where all statements seem to be
     * logged, -1 where the fastest is near none of the usual values.
     */
    public static double threshold(double fastest) {
        if (fastest < COMMON_THRESHOLDS[COMMON_THRESHOLDS.length - 1]) {
            return 0;
        }
        for (double threshold : COMMON_THRESHOLDS) {
            if (fastest >= threshold) {
                return fastest <= threshold * (1 + NEAR) ? threshold : -1;
            }
        }
        return -1;
    }
}
