WITH
{%- include "parts/entity_records.sql" -%}
-- Tables that the records of an entity read or changed, those with the most statements first, at most 50. Counts are
-- those of the log with the most. Parameters: those of page_entity_timeline without begin and width.
SELECT
    table_name, round(max(read_count)) AS reads, round(max(change_count)) AS changes,
    min(first_time) AS first_seen, max(last_time) AS last_seen, count() OVER () AS value_count
FROM (
    SELECT
        toString(arrayJoin(arrayDistinct(arrayConcat(tables_read, tables_written)))) AS table_name, log, is_table,
        sumIf(execution_count, has(tables_read, table_name)) AS read_count,
        sumIf(execution_count, has(tables_written, table_name)) AS change_count,
        min(first_record) AS first_time, max(last_record) AS last_time
    FROM (
        SELECT
            tables_read, tables_written, log, event_kind = 'table' AS is_table, sum(executions) AS execution_count,
            min(records.event_time) AS first_record, max(records.event_time) AS last_record
        FROM records
        WHERE notEmpty(tables_read) OR notEmpty(tables_written)
        GROUP BY tables_read, tables_written, log, is_table)
    GROUP BY table_name, log, is_table)
GROUP BY table_name
ORDER BY reads + changes DESC, table_name
LIMIT 50
