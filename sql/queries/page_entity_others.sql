{%- set record_columns = ['event_time', 'log', 'event_kind', 'is_login', 'executions', 'user', 'ip', 'host', 'program', 'tables_read', 'tables_written'] -%}
{#- The executions of records that read or changed the table or the class of the page. -#}
{%- macro used(tables) -%}
    {%- if kind == 'class' %}sumIf(executions, notEmpty({{ tables }}))
    {%- elif kind == 'table' %}sumIf(executions, has({{ tables }}, {name:String}))
    {%- else %}0.{% endif -%}
{%- endmacro -%}
WITH
{%- include "parts/entity_records.sql" -%}
-- Users, clients, programs and tables of the records of an entity, those with the most records first, at most 500 of each.
-- An empty value is one that the log does not contain. Counts are those of the log with the most.
-- Parameters: those of page_entity_timeline without begin and width.
SELECT
    dimension, value,
    max(logins) AS logins, max(refused) AS refused, round(max(statements)) AS statements, round(max(errors)) AS errors,
    round(max(reads)) AS reads, round(max(changes)) AS changes,
    min(first_time) AS first_seen, max(last_time) AS last_seen, count() OVER (PARTITION BY dimension) AS value_count
FROM (
    SELECT
        dimension, log, is_table,
        arrayJoin(if(dimension = 'table', arrayDistinct(arrayConcat(tables_read, tables_written)), [''])) AS table_name,
        multiIf(
            dimension = 'user', toString(user),
            dimension = 'program', toString(program),
            dimension = 'table', toString(table_name),
            {{ shown_client() }}) AS value,
        sum(login_count) AS logins, sum(refused_count) AS refused, sum(statement_count) AS statements,
        sum(error_count) AS errors,
        sumIf(statement_count, has(tables_read, table_name)) + sumIf(read_count, dimension != 'table') AS reads,
        sumIf(statement_count, has(tables_written, table_name)) + sumIf(change_count, dimension != 'table') AS changes,
        min(first_record) AS first_time, max(last_record) AS last_time
    FROM (
        SELECT
            user, program, ip, host, tables_read, tables_written, log, event_kind = 'table' AS is_table,
            multiIf(grouping(user) = 0, 'user', grouping(program) = 0, 'program', grouping(ip) = 0, 'client', 'table') AS dimension,
            countIf(is_login) AS login_count, countIf(event_kind = 'refused') AS refused_count,
            sumIf(executions, event_kind IN ('statement', 'failed', 'table')) AS statement_count,
            sumIf(executions, event_kind IN ('failed', 'message')) AS error_count,
            {{ used('tables_read') }} AS read_count, {{ used('tables_written') }} AS change_count,
            min(records.event_time) AS first_record, max(records.event_time) AS last_record
        FROM records
        GROUP BY GROUPING SETS (
            (user, log, is_table), (program, log, is_table), (ip, host, log, is_table),
            (tables_read, tables_written, log, is_table)))
    GROUP BY dimension, log, is_table, table_name, value)
GROUP BY dimension, value
ORDER BY dimension, statements + logins + refused DESC, value
LIMIT 500 BY dimension
