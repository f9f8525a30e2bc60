package io.tailrace.cli.input;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.taxonomy.DatabaseEventMapper;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import java.util.function.Predicate;

/** Receives the events of a log file in the form for rules: statements without their literals, as in the pipeline. */
public interface DetectionEventHandler extends LogEventHandler {

    void event(DetectionEvent event);

    @Override
    default Predicate<QueryEvent> statementFilter() {
        return event -> false;
    }

    @Override
    default void query(QueryEvent event, String fingerprint, String statement) {
        event(DatabaseEventMapper.of(event, fingerprint));
    }

    @Override
    default void audit(AuditEvent event, String fingerprint, String statement) {
        event(DatabaseEventMapper.of(event, fingerprint));
    }

    @Override
    default void error(ErrorEvent event) {
        event(DatabaseEventMapper.of(event));
    }
}
