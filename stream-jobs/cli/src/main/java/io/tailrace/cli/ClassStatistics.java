package io.tailrace.cli;

import io.tailrace.event.QueryEvent;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;

/** What the statements of one class, or all statements, cost together. */
final class ClassStatistics {

    /** Users, databases and hosts that are told apart; the rest counts as "other". */
    private static final int MOST_NAMES = 100;

    final long queryId;
    final String fingerprint;
    final String verb;

    final LogBuckets queryTime = new LogBuckets();
    final LogBuckets lockTime = new LogBuckets();
    final LogBuckets rowsSent = new LogBuckets();
    final LogBuckets rowsExamined = new LogBuckets();
    final Map<String, Double> databases = new TreeMap<>();
    final Map<String, Double> users = new TreeMap<>();
    final Map<String, Double> hosts = new TreeMap<>();
    final Map<String, Double> planFlags = new TreeMap<>();
    double errors;
    Instant first = Instant.MAX;
    Instant last = Instant.MIN;

    ClassStatistics(long queryId, String fingerprint, String verb) {
        this.queryId = queryId;
        this.fingerprint = fingerprint;
        this.verb = verb;
    }

    void add(QueryEvent event) {
        double weight = event.getWeight();
        queryTime.add(event.getQueryTime(), weight);
        lockTime.add(event.getLockTime(), weight);
        rowsSent.add(event.getRowsSent(), weight);
        rowsExamined.add(event.getRowsExamined(), weight);
        count(databases, event.getDatabase(), weight);
        count(users, event.getUser(), weight);
        count(hosts, event.getHost().isEmpty() ? event.getIp() : event.getHost(), weight);
        event.getPlanFlags().forEach(flag -> count(planFlags, flag, weight));
        Integer error = event.getErrorCode();
        errors += error != null && error != 0 ? weight : 0;
        first = event.getEventTime().isBefore(first) ? event.getEventTime() : first;
        last = event.getEventTime().isAfter(last) ? event.getEventTime() : last;
    }

    private static void count(Map<String, Double> counts, String name, double weight) {
        String key = counts.size() < MOST_NAMES || counts.containsKey(name) ? name : "other";
        counts.merge(key, weight, Double::sum);
    }
}
