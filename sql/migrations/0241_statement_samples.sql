-- Statements that a tool saw in Performance Schema: `running` at a poll (mysqlreceiver, again at each poll), or `finished`
-- (Grafana Alloy, each execution once, at its start). Neither is a complete log: numbers of rows are no numbers of executions.
CREATE OR REPLACE VIEW tailrace.statement_samples {on_cluster}
SQL SECURITY INVOKER AS
SELECT
    cluster, instance, tool, state, at, database, digest, query_id, thread_id, thread_event_id, seconds, cpu_seconds, wait,
    wait_seconds, command, stage, rows_examined, rows_sent, rows_affected, errors, error_code, trace_id
FROM tailrace.performance_schema_records FINAL
WHERE kind = 'query_sample' AND ignored = ''
