package io.tailrace.detect;

import io.tailrace.event.Alert;

/**
 * An alert that further ones of its rule and entity raise, instead of being alerts of their own.
 *
 * @param alert as it was last changed
 * @param openedAt when it was raised, milliseconds since 1970
 * @param writtenAt when it was last passed on, milliseconds since 1970
 * @param pending it was changed since
 * @param seen beginnings of the ids of the alerts that it stands for
 */
public record AlertGroup(Alert alert, long openedAt, long writtenAt, boolean pending, long[] seen) {

    AlertGroup passedOn(long now) {
        return new AlertGroup(alert, openedAt, now, false, seen);
    }
}
