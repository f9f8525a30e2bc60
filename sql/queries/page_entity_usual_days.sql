{%- include "parts/entity_conditions.sql" -%}
-- For the comparison of an entity with earlier days: a row per day of its records (`is_its`), with their number and that of its
-- statements, and a row per kind of log of a server, with the days of which that log has records. An action in several
-- logs counts in the log with the most statements. Days count as whole, because entities_1d has the records of each day.
-- Parameters: those of page_entity_timeline without begin and width.
SELECT true AS is_its, '' AS log_server, '' AS log, its_day, sum(entries) AS records, round(sum(most_statements)) AS statements,
    [] :: Array(Date) AS log_days
FROM (
    SELECT toDate(day) AS its_day, instance, sum(entry_count) AS entries, max(statement_count) AS most_statements
    FROM (
        SELECT
            day, instance, source, event_class = 'table' AS is_of_tables, sum(entities_1d.count) AS entry_count,
            sumIf(entities_1d.weight, event_table = 'query_events'
                OR event_table = 'audit_events' AND {{ kind_of_audit() }} IN ('statement', 'failed', 'table')) AS statement_count
        FROM tailrace.entities_1d
        WHERE entity_kind = {kind:String} AND name = {{ its_name() }}
            AND toDate(day) >= toDate({from:DateTime64(6, 'UTC')}) AND toDate(day) <= toDate({to:DateTime64(6, 'UTC')} - INTERVAL 1 MICROSECOND)
            AND ({cluster:String} = '' OR cluster = {cluster:String}) AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY day, instance, source, is_of_tables)
    GROUP BY its_day, instance)
GROUP BY its_day
UNION ALL
SELECT false, toString(instance), toString(source), toDate(0), 0, 0, groupUniqArray(toDate(day))
FROM tailrace.entities_1d
WHERE entity_kind = 'log'
    AND toDate(day) >= toDate({from:DateTime64(6, 'UTC')}) AND toDate(day) <= toDate({to:DateTime64(6, 'UTC')} - INTERVAL 1 MICROSECOND)
    AND ({cluster:String} = '' OR cluster = {cluster:String}) AND ({instance:String} = '' OR instance = {instance:String})
GROUP BY instance, source
