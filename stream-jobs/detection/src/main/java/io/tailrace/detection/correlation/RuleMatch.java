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
 * @param actionId id of the action that the event records
 * @param recordId id of the event that an alert names; empty while only rows of tables have matched, see {@link #named}
 * @param rule id of the rule that matched, see {@link RuleIds}
 * @param value value of the counted field; the text of an {@link Amount} if numbers are measured; empty if there is no
 *     field
 * @param expires watermark from which on the match is no longer needed, microseconds
 */
record RuleMatch(long micros, long order, String actionId, String recordId, int rule, String value, long expires) {

    /** In the state, separates the action from a record with another id. Older state has only the action. */
    private static final String SEPARATOR = "\u001f";

    static final Comparator<RuleMatch> BY_TIME = RuleMatch::compare;

    /** One method instead of a chain of comparators: matches of busy groups are compared a dozen times per event. */
    private static int compare(RuleMatch one, RuleMatch other) {
        if (one.micros != other.micros) {
            return Long.compare(one.micros, other.micros);
        }
        if (one.order != other.order) {
            return Long.compare(one.order, other.order);
        }
        int byAction = one.actionId.compareTo(other.actionId);
        if (byAction != 0) {
            return byAction;
        }
        return one.rule == other.rule ? one.value.compareTo(other.value) : Integer.compare(one.rule, other.rule);
    }

    /** Returns whether both matches have the same rule and value. */
    boolean isLike(RuleMatch other) {
        return rule == other.rule && value.equals(other.value);
    }

    boolean isSameAction(RuleMatch other) {
        return micros == other.micros && order == other.order && actionId.equals(other.actionId);
    }

    /** Returns whether both matches are of the same action and rule. */
    boolean isSameEvent(RuleMatch other) {
        return rule == other.rule && isSameAction(other);
    }

    /** Returns the id by which an alert names the action. Without a statement it is that of the action's first event. */
    String named() {
        return recordId.isEmpty() ? actionId : recordId;
    }

    RuleMatch withRecord(String id) {
        return new RuleMatch(micros, order, actionId, id, rule, value, expires);
    }

    /** Returns whether this match certainly precedes the other. */
    boolean isBefore(RuleMatch other) {
        return micros < other.micros || micros == other.micros && order < other.order;
    }

    void write(DataOutput out) throws IOException {
        out.writeLong(micros);
        out.writeLong(order);
        out.writeUTF(recordId.equals(actionId) ? actionId : actionId + SEPARATOR + recordId);
        out.writeInt(rule);
        out.writeUTF(value);
        out.writeLong(expires);
    }

    static RuleMatch read(DataInput in) throws IOException {
        long micros = in.readLong();
        long order = in.readLong();
        String ids = in.readUTF();
        int end = ids.indexOf(SEPARATOR);
        String actionId = end < 0 ? ids : ids.substring(0, end);
        String recordId = end < 0 ? ids : ids.substring(end + 1);
        return new RuleMatch(micros, order, actionId, recordId, in.readInt(), in.readUTF(), in.readLong());
    }
}
