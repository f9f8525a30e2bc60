package io.tailrace.detect;

import io.tailrace.plan.change.PlanHistory;
import java.util.Comparator;

/**
 * An execution of a statement, with its plan where the log says it; or a capture of a statement's plan.
 *
 * @param plan hash of the plan; empty where it is not known
 * @param micros event time, microseconds since 1970 UTC
 * @param generation which file of its log it stands in; 0 for a capture
 * @param offset byte offset of its entry there; 0 for a capture
 * @param seconds that the execution took; NaN for a capture
 * @param rowsExamined by the execution; 0 for a capture
 */
// The names of this class and of its components are in checkpoints: do not rename or move them.
public record PlanSighting(
        String cluster,
        String instance,
        String database,
        long queryId,
        String plan,
        long micros,
        long generation,
        long offset,
        double seconds,
        double rowsExamined) {

    /** As they happened: times of logs may be whole seconds. */
    public static final Comparator<PlanSighting> ORDER = Comparator.comparingLong(PlanSighting::micros)
            .thenComparingLong(PlanSighting::generation)
            .thenComparingLong(PlanSighting::offset);

    /** Whose plans are followed together: a statement's on a server. */
    public record Statement(String instance, long queryId) {}

    public Statement statement() {
        return new Statement(instance, queryId);
    }

    /** With the database of the history, where that follows one: a change is not of where something else ran. */
    public PlanSighting of(PlanHistory history) {
        return history.database().isEmpty()
                ? this
                : new PlanSighting(
                        cluster,
                        instance,
                        history.database(),
                        queryId,
                        plan,
                        micros,
                        generation,
                        offset,
                        seconds,
                        rowsExamined);
    }

    public boolean isCapture() {
        return Double.isNaN(seconds);
    }
}
