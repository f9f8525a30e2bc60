package io.tailrace.detection.correlation;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Comparator;

/**
 * A match that a correlation counts.
 *
 * @param micros event time, microseconds since 1970 UTC
 * @param order of events of the same time
 * @param rule id of the rule that matched, see {@link RuleIds}
 * @param value value of the counted field; the text of an {@link Amount} if numbers are measured; empty if there is no
 *     field
 * @param expires watermark from which on the match is no longer needed, microseconds
 */
record RuleMatch(long micros, long order, String eventId, int rule, String value, long expires) {

    static final Comparator<RuleMatch> BY_TIME = RuleMatch::compare;

    /** One method instead of a chain of comparators: matches of busy groups are compared a dozen times per event. */
    private static int compare(RuleMatch one, RuleMatch other) {
        if (one.micros != other.micros) {
            return Long.compare(one.micros, other.micros);
        }
        if (one.order != other.order) {
            return Long.compare(one.order, other.order);
        }
        int byEvent = one.eventId.compareTo(other.eventId);
        if (byEvent != 0) {
            return byEvent;
        }
        return one.rule == other.rule ? one.value.compareTo(other.value) : Integer.compare(one.rule, other.rule);
    }

    /** Returns whether both matches have the same rule and value. */
    boolean isLike(RuleMatch other) {
        return rule == other.rule && value.equals(other.value);
    }

    boolean isSameEvent(RuleMatch other) {
        return micros == other.micros && order == other.order && rule == other.rule && eventId.equals(other.eventId);
    }

    /** Returns whether this match certainly precedes the other. */
    boolean isBefore(RuleMatch other) {
        return micros < other.micros || micros == other.micros && order < other.order;
    }

    void write(DataOutput out) throws IOException {
        out.writeLong(micros);
        out.writeLong(order);
        out.writeUTF(eventId);
        out.writeInt(rule);
        out.writeUTF(value);
        out.writeLong(expires);
    }

    static RuleMatch read(DataInput in) throws IOException {
        return new RuleMatch(in.readLong(), in.readLong(), in.readUTF(), in.readInt(), in.readUTF(), in.readLong());
    }
}
