{%- include "parts/utc.sql" -%}
{#- The statement of the dashboard "Query detail" and its time range, for a WITH: the statement in the filter, or else the one
    with the most total time. Superset also offers a part of an id as a value: then it is the statement with the most total time
    among those whose id contains this part. The filter is applied here, not by Superset. The choice uses hourly rollups, so
    partial hours of the range count as complete hours. For the change against the earlier period, the statement stays the same. -#}
{%- macro chosen_statement() -%}
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 86400" }} AS range_start,
    {{ utc_of_shown_range(to_dttm) if to_dttm else "range_end" }} AS chosen_to,
    {{ utc_of_shown_range(from_dttm) if from_dttm else "range_start" }} AS chosen_from,
    {%- set wanted = filter_values('query_id', remove_filter=True) %}
    {%- if wanted and wanted[0] | length == 16 %}
    reinterpretAsUInt64(reverse(unhex(array{{ wanted | where_in }}[1]))) AS chosen
    {%- elif wanted %}
    (
        SELECT query_id
        FROM (
            SELECT query_id, query_time FROM tailrace.query_classes_1h
            WHERE hour >= toStartOfHour(chosen_from) AND hour < chosen_to {{- passes('instance') }}
            UNION ALL
            SELECT query_id, 0 FROM tailrace.fingerprints)
        WHERE position(leftPad(hex(query_id), 16, '0'), upper(trim(array{{ wanted | where_in }}[1]))) > 0
        GROUP BY query_id ORDER BY sum(query_time) DESC, query_id LIMIT 1
    ) AS chosen
    {%- else %}
    (
        SELECT query_id FROM tailrace.query_classes_1h
        WHERE hour >= toStartOfHour(chosen_from) AND hour < chosen_to {{- passes('instance') }}
        GROUP BY query_id ORDER BY sum(query_time) DESC, query_id LIMIT 1
    ) AS chosen
    {%- endif %}
{%- endmacro -%}
{#- The query ids of the executions of the chosen statement, for a WITH, after chosen_statement: its own id, and its earlier or
    later ids if the fingerprint rules changed. Excludes an old id that other statements also had, because most of its executions
    belong to them. -#}
{%- macro known_ids() -%}
    renamed AS (
        SELECT query_id AS new_id, arrayJoin(previous_query_ids) AS old_id FROM tailrace.fingerprints
        WHERE notEmpty(previous_query_ids)
        GROUP BY new_id, old_id),
    known_ids AS (
        SELECT ifNull(chosen, 0) AS id
        UNION ALL
        SELECT new_id FROM renamed WHERE old_id = chosen
        UNION ALL
        SELECT old_id FROM renamed GROUP BY old_id HAVING groupUniqArray(new_id) = [ifNull(chosen, 0)])
{%- endmacro -%}
{%- macro passes(column) -%}
    {%- if filter_values(column) %} AND {{ column }} IN {{ filter_values(column) | where_in }}{% endif -%}
{%- endmacro -%}
{#- Executions of the chosen statement with a known plan: the one in the log entry, or else the last one that was captured
    before. For a WITH, after chosen_statement. -#}
{%- macro executions_with_plans() -%}
    executions_with_plans AS (
        SELECT instance, cluster, event_time, weight, query_time, rows_examined, toString(plan_hash) AS plan_hash
        FROM tailrace.query_events
        WHERE query_events.query_id = chosen AND plan_hash != ''
            AND event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC')
        UNION ALL
        SELECT ran.instance, ran.cluster, event_time, weight, query_time, rows_examined, captured.plan_hash
        FROM (
            SELECT instance, cluster, event_time, weight, query_time, rows_examined
            FROM tailrace.query_events
            WHERE query_events.query_id = chosen AND plan_hash = ''
                AND event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC')
        ) AS ran
        ASOF JOIN (
            SELECT instance, captured_at, toString(plan_hash) AS plan_hash
            FROM tailrace.plan_captures FINAL
            WHERE plan_captures.query_id = chosen AND status = 'ok' AND plan_hash != ''
        ) AS captured ON captured.instance = ran.instance AND captured.captured_at <= ran.event_time)
{%- endmacro -%}
{#- Bucket width of charts over time in seconds, for about 200 buckets in the range. For a WITH that defines range_start and range_end. -#}
{%- macro bucket_width() -%}
range_end - range_start AS shown,
    multiIf(
        shown <= 4 * 3600, 60,
        shown <= 14 * 3600, 300,
        shown <= 30 * 3600, 600,
        shown <= 7 * 86400, 3600,
        shown <= 30 * 86400, 6 * 3600,
        86400) AS width
{%- endmacro -%}
