package io.tailrace.cli.digest.aggregate;

import io.tailrace.event.QueryEvent;
import io.tailrace.flag.EventFlag;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Derives logging settings from the entries of a log: the threshold of durations and the sampling rate. */
public final class LoggingProperties {

    private static final double[] COMMON_THRESHOLDS = {
        60, 30, 20, 15, 10, 5, 4, 3, 2, 1.5, 1, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002,
        0.001
    };
    /** Maximum distance of a threshold below the fastest statement, as a fraction of it. */
    private static final double NEAR = 0.25;

    private final Set<String> rateTypes = new TreeSet<>();
    private double minWeight = Double.POSITIVE_INFINITY;
    private double maxWeight;
    private String lastRateType;
    private double fastest = Double.POSITIVE_INFINITY;
    private long minExamined = Long.MAX_VALUE;
    private long otherZone;

    void add(QueryEvent event) {
        if (EventFlag.ZONE_DOUBTFUL.isIn(event.getFlags())) {
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

    /** Returns the shortest query time of all entries in seconds, including those that a filter excludes. */
    public double fastest() {
        return fastest;
    }

    public long minExamined() {
        return minExamined;
    }

    /** Returns the number of entries whose local time and SET timestamp differ by an offset between two time zones. */
    public long otherZone() {
        return otherZone;
    }

    public boolean isSampled() {
        return maxWeight > 1;
    }

    /** Returns the values of {@code Log_slow_rate_limit}: one value, or the smallest and largest. */
    public List<Double> rateLimits() {
        return minWeight == maxWeight ? List.of(minWeight) : List.of(minWeight, maxWeight);
    }

    /** Returns {@code session} or {@code query}, as logged by Percona Server; empty if the log does not contain it. */
    public List<String> rateTypes() {
        return List.copyOf(rateTypes);
    }

    /**
     * Returns the {@code long_query_time} that the fastest statement suggests, in seconds: 0 if all statements seem to
     * be logged, -1 if no common threshold is close.
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
