package io.tailrace.detect;

import io.tailrace.plan.change.PlanHistory;
import java.util.Comparator;

/**
 * An execution of a statement, with its plan if the log contains it, or a captured plan of a statement.
 *
 * @param plan hash of the plan; empty if it is unknown
 * @param micros event time, microseconds since 1970 UTC
 * @param generation generation of its log; 0 for a capture
 * @param offset byte offset of its entry in that generation; 0 for a capture
 * @param seconds duration of the execution; NaN for a capture
 * @param rowsExamined rows that the execution examined; 0 for a capture
 */
// Checkpoints contain the names of this class and of its components: do not rename or move them.
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

    /** The order of execution: times in logs may be whole seconds. */
    public static final Comparator<PlanSighting> ORDER = Comparator.comparingLong(PlanSighting::micros)
            .thenComparingLong(PlanSighting::generation)
            .thenComparingLong(PlanSighting::offset);

    /** The key of a plan history: a statement on a server. */
    public record Statement(String instance, long queryId) {}

    public Statement statement() {
        return new Statement(instance, queryId);
    }

    /**
     * Returns a copy with the database of the history, if there is one, so that a change does not name a database in
     * which another execution ran.
     */
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
