package io.tailrace.detect;

/**
 * An execution of a statement, with its plan where the log says it; or a capture of a statement's plan.
 *
 * @param plan hash of the plan; empty where it is not known
 * @param micros event time, microseconds since 1970 UTC
 * @param seconds that the execution took; NaN for a capture
 * @param rowsExamined by the execution; 0 for a capture
 */
public record PlanSighting(
        String cluster,
        String instance,
        String database,
        long queryId,
        String plan,
        long micros,
        double seconds,
        double rowsExamined) {

    /** Whose plans are followed together: a statement's on a server. */
    public record Statement(String instance, long queryId) {}

    Statement statement() {
        return new Statement(instance, queryId);
    }

    boolean isCapture() {
        return Double.isNaN(seconds);
    }
}
