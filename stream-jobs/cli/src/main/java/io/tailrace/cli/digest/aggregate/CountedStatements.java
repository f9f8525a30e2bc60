package io.tailrace.cli.digest.aggregate;

import java.time.Instant;
import java.util.List;

/**
 * What a server counted of one digest: of the statements of one schema that differ only in literals. Times are seconds.
 *
 * @param digest name of the digest at the server; empty for statements for which the server's table had no room
 * @param count number of executions
 * @param seconds their query time
 * @param extremes the shortest and the longest; null if they are unknown
 * @param buckets the distribution of query times; null if the server has none
 * @param rowsAffected null if unknown
 * @param errors executions that failed
 * @param noIndex executions that used no index
 * @param first time of the first execution
 * @param last time of the last one
 */
public record CountedStatements(
        String digest,
        double count,
        double seconds,
        Extremes extremes,
        List<Bucket> buckets,
        double lockSeconds,
        double rowsSent,
        double rowsExamined,
        Double rowsAffected,
        double errors,
        double noIndex,
        Instant first,
        Instant last) {

    /** Seconds of the shortest and of the longest execution. */
    public record Extremes(double min, double max) {}

    /** A number of executions that took about {@code seconds}. */
    public record Bucket(double seconds, double count) {}

    /** Counts the executions in the measures of a group. */
    void addTo(StatementGroup group) {
        if (extremes == null) {
            group.queryTime.addSum(count, seconds);
        } else {
            group.queryTime.addSum(count, seconds, extremes.min, extremes.max);
        }
        if (buckets != null) {
            buckets.forEach(bucket -> group.queryTime.place(bucket.seconds, bucket.count));
        }
        group.lockTime.addSum(count, lockSeconds);
        group.rowsSent.addSum(count, rowsSent);
        group.rowsExamined.addSum(count, rowsExamined);
        if (rowsAffected != null) {
            group.rowsAffected = group.rowsAffected == null ? new LatencyHistogram(1) : group.rowsAffected;
            group.rowsAffected.addSum(count, rowsAffected);
        }
        group.errors += errors;
        if (noIndex > 0) {
            group.planFlags.add("no_index_used", noIndex);
        }
    }
}
