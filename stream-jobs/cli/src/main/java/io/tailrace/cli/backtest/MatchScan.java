package io.tailrace.cli.backtest;

import io.tailrace.detection.dataclass.DataClassifier;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.index.RulePrefilter;
import io.tailrace.detection.sigma.rule.SigmaRule;
import io.tailrace.detection.stored.StoredEventDecoder;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds the events that match a rule by the columns of the rules alone, in any order. Only these events are read with all
 * of their columns and sorted. Not thread-safe.
 */
final class MatchScan {

    private final RulePrefilter rules;
    private final DataClassifier classifier;
    private long statementsMissing;

    MatchScan(List<SigmaRule> rules, DataClassifier classifier) {
        this.rules = new RulePrefilter(rules);
        this.classifier = classifier;
    }

    /** Returns the ids of the events that match a rule. */
    List<String> matching(EventQuery query, EventStore.Result rows, Statements statements) throws IOException {
        List<String> ids = new ArrayList<>();
        try (InputStream body = rows.body()) {
            StoredEventDecoder events = new StoredEventDecoder(query.table(), query.scanned(), body, statements::of);
            for (DetectionEvent event = events.next(); event != null; event = events.next()) {
                classifier.enrich(event);
                if (matches(event)) {
                    ids.add(event.id());
                }
            }
            EventStore.requireRows(rows.rows(), events.rows());
            statementsMissing += events.statementsMissing();
        }
        return ids;
    }

    private boolean matches(DetectionEvent event) {
        boolean[] found = new boolean[1];
        rules.match(event, rule -> found[0] = true);
        return found[0];
    }

    /** Returns the number of scanned events whose statement is not stored, or may not be read. */
    long statementsMissing() {
        return statementsMissing;
    }
}
