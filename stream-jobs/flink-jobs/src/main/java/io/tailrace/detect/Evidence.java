package io.tailrace.detect;

import io.tailrace.flink.detection.state.GroupKey;
import java.util.List;
import java.util.Map;

/**
 * Input of a correlation or a detector: a match of a rule, or an observation.
 *
 * @param push offset of the push whose rules were evaluated
 * @param level stage of the consumer, from 1
 * @param consumer key of the correlation or detector
 * @param group group whose state changes
 * @param rule key of the rule that matched; empty for an observation
 * @param eventId id of the event, or of the alert that is counted; empty for a match of a row of a table
 * @param actionId the same for all events that record one action in several logs
 * @param micros event time, microseconds since 1970 UTC
 * @param order of events of the same time
 * @param values values of the counted field, or observed values
 * @param amount amount that a detector sums
 * @param statement statement without its literals; empty if there is none
 * @param late the event arrived after the allowed lateness
 * @param about fields of the event that an alert contains
 */
// Checkpoints contain the names of this class and of its components: do not rename or move them.
public record Evidence(
        long push,
        int level,
        String consumer,
        List<String> group,
        String rule,
        String eventId,
        String actionId,
        long micros,
        long order,
        List<String> values,
        double amount,
        String statement,
        boolean late,
        Map<String, String> about) {

    /** Returns the key of all input of a consumer for one group. */
    public String key() {
        return GroupKey.of(consumer, group);
    }
}
