package io.tailrace.detect;

import io.tailrace.event.Alert;
import java.util.Arrays;
import java.util.List;

/**
 * An alert that represents all matches of its rule, entity and interval.
 *
 * @param alert latest version of the alert
 * @param openedAt when it was raised, milliseconds since 1970
 * @param writtenAt when it was last emitted, milliseconds since 1970
 * @param pending whether it has changed since it was last emitted
 * @param seen prefixes of the ids of the alerts that it represents
 */
// Checkpoints contain the names of this class and of its components: do not rename or move them.
public record AlertGroup(Alert alert, long openedAt, long writtenAt, boolean pending, long[] seen) {

    private static final int FEW_SEEN = 100;

    public AlertGroup passedOn(long now) {
        return new AlertGroup(alert, openedAt, now, false, seen);
    }

    /** Returns a copy without the fields that the next alert sets again: late alerts are few, but groups are many. */
    public AlertGroup trimmed() {
        Alert kept = Alert.newBuilder(alert)
                .setTags(List.of())
                .setNextSteps(List.of())
                .setFalsePositives(List.of())
                .build();
        int from = Math.max(0, seen.length - FEW_SEEN);
        return new AlertGroup(kept, openedAt, writtenAt, pending, Arrays.copyOfRange(seen, from, seen.length));
    }
}
