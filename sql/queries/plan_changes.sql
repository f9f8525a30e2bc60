{%- include "parts/links.sql" -%}
{%- include "parts/utc.sql" -%}
-- Plan changes of statements with their effect. One row per change.
WITH
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 86400 * 7" }} AS range_start,
    texts AS (
        SELECT query_id AS id, any(fingerprint) AS query FROM tailrace.fingerprints
        WHERE query_id IN (SELECT query_id FROM tailrace.plan_changes) GROUP BY query_id)
SELECT
    toDateTime(changed_at, 'UTC') AS time,
    cluster, instance, database,
    leftPad(hex(plan_changes.query_id), 16, '0') AS query_id,
    texts.query AS query,
    old_plan, new_plan, verdict, reason, basis, ratio,
    median_before, median_after,
    executions_before, executions_after,
    rows_examined_before, rows_examined_after,
    {{ link_to_query('query_id', "'open'") }} AS link
FROM tailrace.plan_changes FINAL
LEFT JOIN texts ON texts.id = plan_changes.query_id
WHERE changed_at >= range_start AND changed_at < toDateTime64(range_end, 6, 'UTC')
