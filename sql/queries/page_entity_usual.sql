{%- set record_columns = ['event_time', 'instance', 'log', 'user', 'ip', 'host', 'program', 'tables_read', 'tables_written', 'sent_rows'] -%}
WITH
{%- include "parts/entity_records.sql" -%}
-- What the records of an entity since `begin` name, and whether its records from `from` until then name it, too: tables, clients or users,
-- programs, hours of the day (UTC), and the most rows sent by a statement (`sent`). New values are first, at most 500 of each
-- dimension. `new_values` and `all_values` are those of the dimension, `places` the servers and logs of the value, and `was_named` says
-- whether an earlier record names any value of the dimension. Parameters: those of page_entity_timeline without width.
SELECT
    dimension, value, records, first_at, earlier_records, latest_before, most_sent, most_sent_before, places, new_values, all_values, was_named
FROM (
    SELECT
        *,
        countIf(records > 0 AND earlier_records = 0 AND value != '') OVER by_dimension AS new_values,
        countIf(records > 0 AND value != '') OVER by_dimension AS all_values,
        max(earlier_records > 0 AND value != '') OVER by_dimension AS was_named
    FROM (
        SELECT
            each.1 AS dimension, each.2 AS value,
            sumIf(record_count, is_current) AS records, minIf(first_time, is_current) AS first_at,
            sumIf(record_count, NOT is_current) AS earlier_records, maxIf(last_time, NOT is_current) AS latest_before,
            maxIf(most_sent_rows, is_current) AS most_sent, maxIf(most_sent_rows, NOT is_current) AS most_sent_before,
            groupUniqArrayIf((instance, log), is_current) AS places
        FROM (
            SELECT
                is_current, toString(instance) AS instance, toString(log) AS log, record_count, first_time, last_time, most_sent_rows,
                arrayJoin(multiIf(
                    is_by_hour, arrayConcat([('hour', leftPad(toString(hour_of_day), 2, '0'))], if(is_timed, [('sent', 'rows')], [])),
                    {%- if kind == 'client' %}
                    is_by_other, [('user', toString(user))],
                    {%- else %}
                    is_by_other, [('client', {{ shown_client() }})],
                    {%- endif %}
                    is_by_program, [('program', toString(program))],
                    arrayMap(name -> ('table', toString(name)), arrayDistinct(arrayConcat(tables_read, tables_written))))) AS each
            FROM (
                {#- One set for each dimension: clients, hours and tables together have nearly as many groups as records. -#}
                {%- set other = 'user' if kind == 'client' else 'ip, host' %}
                SELECT
                    is_current, instance, log, hour_of_day, {{ other }}, program, tables_read, tables_written,
                    grouping(hour_of_day) = 0 AS is_by_hour, grouping({{ other.split(',')[0] }}) = 0 AS is_by_other,
                    grouping(program) = 0 AS is_by_program,
                    count() AS record_count, min(time) AS first_time, max(time) AS last_time,
                    countIf(isNotNull(sent_rows)) > 0 AS is_timed, max(sent_rows) AS most_sent_rows
                FROM (
                    SELECT
                        records.event_time AS time, time >= {begin:DateTime64(6, 'UTC')} AS is_current, toHour(time) AS hour_of_day,
                        instance, log, {{ other }}, program, tables_read, tables_written, sent_rows
                    FROM records)
                GROUP BY GROUPING SETS (
                    (is_current, instance, log, hour_of_day),
                    (is_current, instance, log, {{ other }}),
                    (is_current, instance, log, program),
                    (is_current, instance, log, tables_read, tables_written))))
        GROUP BY dimension, value)
    WINDOW by_dimension AS (PARTITION BY dimension))
WHERE records > 0 AND value != ''
ORDER BY dimension, earlier_records > 0, first_at, value
LIMIT 500 BY dimension
