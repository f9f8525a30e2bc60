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
 * @param rule which of the correlation's rules matched, as {@link RuleIds} counts them
 * @param value of the field that is counted; empty where none is
 * @param expires watermark from which on it is not needed any more, microseconds
 */
record RuleMatch(long micros, long order, String eventId, int rule, String value, long expires) {

    static final Comparator<RuleMatch> BY_TIME = Comparator.comparingLong(RuleMatch::micros)
            .thenComparingLong(RuleMatch::order)
            .thenComparing(RuleMatch::eventId)
            .thenComparingInt(RuleMatch::rule)
            .thenComparing(RuleMatch::value);

    /** Whether both count for the same. */
    boolean isLike(RuleMatch other) {
        return rule == other.rule && value.equals(other.value);
    }

    /** Whether this one came first for sure. */
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
