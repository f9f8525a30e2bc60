package io.tailrace.detection.detector.volume;

import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.event.DetectionEvent;
import java.util.List;

/** The amounts of events that detectors count, and for whom. */
final class CountedEvents {

    private static final double MAX_AMOUNT = 1e15;
    private static final String SLOW_LOG = "slowlog";

    private CountedEvents() {}

    /**
     * Returns the user of an instance in one kind of log, as entity. Each kind is counted separately: a statement that
     * two logs record counts once in each.
     */
    static List<String> userInLog(DetectionEvent event) {
        return List.of(
                DetectorEventFields.text(event, "cluster"),
                DetectorEventFields.text(event, "instance"),
                DetectorEventFields.text(event, "user"),
                event.source().service());
    }

    /** Returns whether the event is one execution of a statement, in a log that contains all of them. */
    static boolean isExecution(DetectionEvent event) {
        return !SLOW_LOG.equals(event.source().service()) && DetectorEventFields.isStatement(event);
    }

    /** Returns an amount from a log, which may be any number, so that sums of it stay exact enough. */
    static double bounded(double amount) {
        return Math.min(amount, MAX_AMOUNT);
    }
}
