package io.tailrace.detection.alert;

import io.tailrace.identity.Murmur3;

/** The identity of a grouped alert: a rule, an entity and an interval of event time. */
public final class AlertGroupId {

    private static final char SEPARATOR = '\u001f';

    private AlertGroupId() {}

    /**
     * Returns the key of a group.
     *
     * @param millis event time of an alert, milliseconds since 1970 UTC
     * @param groupMillis length of an interval; intervals begin at multiples of it since 1970
     */
    public static String key(String ruleKey, String entityKey, long millis, long groupMillis) {
        return ruleKey + SEPARATOR + entityKey + SEPARATOR + Math.floorDiv(millis, groupMillis);
    }

    /** Returns the 16 bytes of the id of a group, which is the column {@code alert_id}. */
    public static byte[] of(String key) {
        return new Murmur3().update(key).digest();
    }
}
