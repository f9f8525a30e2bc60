package io.tailrace.flink.runtime;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** The keys of both jobs that were renamed. An old key works, with a warning, until a release removes it. */
public final class RenamedJobKeys {

    /** The release that removes the old keys. */
    static final String REMOVED_IN = "0.3.0";

    private static final Map<String, String> NEW_KEYS = Map.of(
            "actions.remembered.ms", "actions.state.ttl.ms",
            "alerts.group.ms", "alerts.group.interval.ms",
            "alerts.update.ms", "alerts.update.interval.ms",
            "clickhouse.pending.mib", "clickhouse.buffer.max.mib",
            "duplicates.days", "deduplication.state.ttl.days",
            "quiet.ms", "idle.timeout.ms",
            "topics.captures", "topics.plan-captures",
            "topics.files", "topics.census");

    private RenamedJobKeys() {}

    /** Returns the new keys by the old ones. */
    public static Map<String, String> newKeys() {
        return NEW_KEYS;
    }

    /**
     * Returns the values under the new keys.
     *
     * @param keys of the job; an old key of another job stays as it is
     * @param warnings receives one for each old key
     * @throws ConfigurationException if an old key and its new one are given
     */
    static Map<String, String> apply(Map<String, String> given, List<String> keys, Consumer<String> warnings) {
        Map<String, String> values = new TreeMap<>();
        given.forEach((key, value) -> {
            String newKey = NEW_KEYS.getOrDefault(key, key);
            if (newKey.equals(key) || !keys.contains(newKey)) {
                values.put(key, value);
                return;
            }
            if (given.containsKey(newKey)) {
                throw new ConfigurationException(
                        key + " is the old name of " + newKey + ", and both are given: remove " + key);
            }
            warnings.accept(key + " is now called " + newKey + "; release " + REMOVED_IN + " removes the old name");
            values.put(newKey, value);
        });
        return values;
    }
}
