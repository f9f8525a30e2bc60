package io.tailrace.detection.taxonomy;

import io.tailrace.audit.record.AuditEventBuilder;
import io.tailrace.event.AuditEvent;
import java.util.List;
import java.util.Map;

/** Events of the cases in {@code schemas/contracts}. */
final class AuditEvents {

    private AuditEvents() {}

    @SuppressWarnings("unchecked")
    static AuditEvent of(Map<String, Object> contractCase) {
        AuditEvent event = new AuditEventBuilder().blank();
        event.setFormat((String) contractCase.get("format"));
        event.setEventClass((String) contractCase.get("event_class"));
        event.setCommand((String) contractCase.get("command"));
        event.setEventName((String) contractCase.get("event_name"));
        event.setStatus((Integer) contractCase.get("status"));
        event.setFlags((List<String>) contractCase.get("flags"));
        return event;
    }
}
