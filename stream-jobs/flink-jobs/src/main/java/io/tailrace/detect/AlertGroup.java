package io.tailrace.detect;

import io.tailrace.event.Alert;
import java.util.Arrays;
import java.util.List;

/**
 * An alert that further ones of its rule, entity and interval raise, instead of being alerts of their own.
 *
 * @param alert as it was last changed
 * @param openedAt when it was raised, milliseconds since 1970
 * @param writtenAt when it was last passed on, milliseconds since 1970
 * @param pending it was changed since
 * @param seen beginnings of the ids of the alerts that it stands for
 */
// The names of this class and of its components are in checkpoints: do not rename or move them.
public record AlertGroup(Alert alert, long openedAt, long writtenAt, boolean pending, long[] seen) {

    private static final int FEW_SEEN = 100;

    public AlertGroup passedOn(long now) {
        return new AlertGroup(alert, openedAt, now, false, seen);
    }

    /** Without what comes with the next one: late ones are few, and groups many. */
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
