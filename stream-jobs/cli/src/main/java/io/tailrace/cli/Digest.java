package io.tailrace.cli;

import io.tailrace.event.QueryEvent;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The statements of slow logs by class. */
final class Digest {

    private final Map<Long, ClassStatistics> classes = new HashMap<>();
    final ClassStatistics overall = new ClassStatistics(0, "", "");
    /** Entries of the logs, which may stand for more executions. */
    long entries;
    /** Audit records, which have no query time. */
    long skipped;

    long deadLetters;

    void add(QueryEvent event, String fingerprint) {
        entries++;
        overall.add(event);
        classes.computeIfAbsent(event.getQueryId(), id -> new ClassStatistics(id, fingerprint, event.getVerb()))
                .add(event);
    }

    int classCount() {
        return classes.size();
    }

    /** The heaviest classes first; equal ones in the order of their ids. */
    List<ClassStatistics> heaviest(Ranking ranking, int limit) {
        return classes.values().stream()
                .sorted(Comparator.comparingDouble(ranking::of)
                        .reversed()
                        .thenComparing((one, other) -> Long.compareUnsigned(one.queryId, other.queryId)))
                .limit(Math.max(0, limit))
                .toList();
    }
}
