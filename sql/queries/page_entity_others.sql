WITH
{%- include "parts/entity_records.sql" -%}
-- Users, clients, programs and tables of the records of an entity, those with the most records first, at most 50 of each.
-- An empty value is one that the log does not contain. Counts are those of the log with the most.
-- Parameters: those of page_entity_timeline without begin and width.
SELECT
    dimension, value,
    max(logins) AS logins, max(refused) AS refused, round(max(statements)) AS statements, round(max(errors)) AS errors,
    round(max(reads)) AS reads, round(max(changes)) AS changes,
    min(first_time) AS first_seen, max(last_time) AS last_seen, count() OVER (PARTITION BY dimension) AS value_count
FROM (
    SELECT
        multiIf(by_user, 'user', by_program, 'program', by_client, 'client', 'table') AS dimension, log, is_table,
        arrayJoin(if(dimension = 'table', arrayMap(each -> toString(each), arrayDistinct(arrayConcat(tables_read, tables_written))), ['']))
            AS table_name,
        multiIf(
            by_user, toString(user),
            by_program, toString(program),
            NOT by_client, table_name,
            {{ shown_client() }}) AS value,
        sum(login_count) AS logins, sum(refused_count) AS refused, sum(statement_count) AS statements,
        sum(error_count) AS errors,
        sumIf(statement_count, has(tables_read, table_name)) + sum(read_count) AS reads,
        sumIf(statement_count, has(tables_written, table_name)) + sum(change_count) AS changes,
        min(first_record) AS first_time, max(last_record) AS last_time
    FROM (
        SELECT
            user, program, ip, host, tables_read, tables_written, log, is_table,
            grouping(user) = 0 AS by_user, grouping(program) = 0 AS by_program, grouping(ip) = 0 AS by_client,
            countIf(is_login) AS login_count, countIf(event_kind = 'refused') AS refused_count,
            sumIf(executions, event_kind IN ('statement', 'failed', 'table')) AS statement_count,
            sumIf(executions, event_kind IN ('failed', 'message')) AS error_count,
            sumIf(executions, is_read) AS all_reads,
            sumIf(executions, is_change) AS all_changes,
            if(by_user OR by_program OR by_client, all_reads, 0) AS read_count,
            if(by_user OR by_program OR by_client, all_changes, 0) AS change_count,
            min(records.event_time) AS first_record, max(records.event_time) AS last_record
        FROM (
            SELECT
                *, event_kind = 'table' AS is_table,
                {kind:String} = 'class' AND notEmpty(tables_read) OR {kind:String} = 'table' AND has(tables_read, {name:String}) AS is_read,
                {kind:String} = 'class' AND notEmpty(tables_written) OR {kind:String} = 'table' AND has(tables_written, {name:String})
                    AS is_change
            FROM records
        ) AS records
        GROUP BY GROUPING SETS (
            (user, log, is_table), (program, log, is_table), (ip, host, log, is_table),
            (tables_read, tables_written, log, is_table)))
    GROUP BY dimension, log, is_table, table_name, value)
GROUP BY dimension, value
ORDER BY dimension, statements + logins + refused DESC, value
LIMIT 50 BY dimension
