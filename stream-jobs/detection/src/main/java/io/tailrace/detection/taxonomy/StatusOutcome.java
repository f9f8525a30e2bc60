package io.tailrace.detection.taxonomy;

import io.tailrace.flag.EventFlag;
import java.util.Collection;

/**
 * The outcome of an action, derived from the status that its log recorded. A status of 0 is success, unless the flag
 * {@code status_unknown} says that the log records no status. Any other status is a failure.
 */
public final class StatusOutcome {

    static final String SUCCESS = "success";
    static final String FAILURE = "failure";
    static final String UNKNOWN = "unknown";

    private StatusOutcome() {}

    /** @param flags of the event */
    public static String of(int status, Collection<?> flags) {
        return of(isKnown(status, flags), status);
    }

    static String of(boolean isKnown, int status) {
        if (!isKnown) {
            return UNKNOWN;
        }
        return status == 0 ? SUCCESS : FAILURE;
    }

    static boolean isKnown(int status, Collection<?> flags) {
        return status != 0 || !EventFlag.STATUS_UNKNOWN.isIn(flags);
    }
}
