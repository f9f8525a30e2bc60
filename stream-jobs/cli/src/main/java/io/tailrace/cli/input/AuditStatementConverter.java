package io.tailrace.cli.input;

import io.tailrace.detection.taxonomy.StatusOutcome;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.QueryEvent;
import java.util.List;
import java.util.Map;

/** Converts statements of audit and general logs to the form that a digest counts. */
public final class AuditStatementConverter {

    private AuditStatementConverter() {}

    /**
     * Returns whether the record represents one execution of a statement. A filter log writes several records for each,
     * of which every statement has one named status. A prepared statement is not an execution.
     */
    public static boolean isStatement(AuditEvent event) {
        boolean one = event.getEventName().isEmpty() || "status".equals(event.getEventName());
        return event.getQueryId() != null
                && one
                && "query".equals(event.getEventClass())
                && !"Prepare".equalsIgnoreCase(event.getCommand());
    }

    /** Converts the record to an entry of a slow log in which all durations and rows are 0. Without a result it has no error code. */
    public static QueryEvent query(AuditEvent event) {
        QueryEvent query = new QueryEvent();
        query.setEventTime(event.getEventTime());
        query.setUser(event.getUser());
        query.setHost(event.getHost());
        query.setIp(event.getIp());
        query.setDatabase(event.getDatabase());
        query.setConnectionId(event.getConnectionId());
        query.setQueryId(event.getQueryId());
        query.setVerb(event.getVerb());
        query.setErrorCode(StatusOutcome.isUnknown(event) ? null : event.getStatus());
        query.setWeight(1);
        query.setPlanFlags(List.of());
        query.setFlags(event.getFlags());
        query.setAttributes(Map.of());
        query.setExplain("");
        query.setTablesRead(event.getTablesRead());
        query.setTablesWritten(event.getTablesWritten());
        query.setTags(event.getTags());
        query.setTraceId(event.getTraceId());
        query.setSpanId(event.getSpanId());
        query.setAccounts(event.getAccounts());
        return query;
    }
}
