package io.tailrace.detection.detector;

import java.util.Map;

/**
 * The keys of {@code detectors.yaml} that were renamed, as new keys by the old ones. An old key works, with a warning,
 * until a release removes it. State and ids of alerts contain {@link DetectorType#key()}, which never changes.
 */
public final class RenamedDetectorKeys {

    /** The release that removes the old keys. */
    static final String REMOVED_IN = "0.3.0";

    /** Keys of detectors. */
    public static final Map<String, String> DETECTORS = Map.of(
            "coverage", "census_timeout",
            "coverage_gap", "log_gap",
            "impossible_places", "impossible_travel",
            "plan_slower", "plan_regression");

    /** Keys of their settings. */
    public static final Map<String, String> SETTINGS = Map.of(
            "at_least", "min_amount",
            "dormant", "inactivity",
            "most_per_day", "max_alerts_per_day",
            "most_values", "max_values",
            "settle", "settling_period",
            "silent", "timeout",
            "widest", "max_active_share");

    private RenamedDetectorKeys() {}

    /** Returns the warning about an old key. */
    public static String warning(String oldKey, String newKey) {
        return oldKey + " is now called " + newKey + "; release " + REMOVED_IN + " removes the old name";
    }

    /** Returns the error for an old key and its new one in the same map. */
    public static String both(String oldKey, String newKey) {
        return oldKey + " is the old name of " + newKey + ", and both are given: remove " + oldKey;
    }
}
