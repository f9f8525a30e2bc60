{%- include "parts/utc.sql" -%}
{#- The statement that the dashboard "Query detail" is about, and the time that is shown, for a WITH: the statement in
    the filter, else the one that took the most time. Rollups are by the hour, so an hour that is shown in part counts
    whole in that choice. -#}
{%- macro chosen_statement() -%}
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 86400" }} AS range_start,
    {%- if filter_values('query_id') %}
    reinterpretAsUInt64(reverse(unhex(array{{ filter_values('query_id') | where_in }}[1]))) AS chosen
    {%- else %}
    (
        SELECT query_id FROM tailrace.query_classes_1h
        WHERE hour >= toStartOfHour(range_start) AND hour < range_end {{- passes('instance') }}
        GROUP BY query_id ORDER BY sum(query_time) DESC, query_id LIMIT 1
    ) AS chosen
    {%- endif %}
{%- endmacro -%}
{%- macro passes(column) -%}
    {%- if filter_values(column) %} AND {{ column }} IN {{ filter_values(column) | where_in }}{% endif -%}
{%- endmacro -%}
{#- Executions of the chosen statement whose plan is known: their own where the log says it, else the one that was captured
    last before. For a WITH, after chosen_statement. -#}
{%- macro executions_with_plans() -%}
    executions_with_plans AS (
        SELECT instance, cluster, event_time, weight, query_time, rows_examined, toString(plan_hash) AS plan_hash
        FROM tailrace.query_events
        WHERE query_events.query_id = chosen AND plan_hash != ''
            AND event_time >= range_start AND event_time < range_end
        UNION ALL
        SELECT ran.instance, ran.cluster, event_time, weight, query_time, rows_examined, captured.plan_hash
        FROM (
            SELECT instance, cluster, event_time, weight, query_time, rows_examined
            FROM tailrace.query_events
            WHERE query_events.query_id = chosen AND plan_hash = ''
                AND event_time >= range_start AND event_time < range_end
        ) AS ran
        ASOF JOIN (
            SELECT instance, captured_at, toString(plan_hash) AS plan_hash
            FROM tailrace.plan_captures FINAL
            WHERE plan_captures.query_id = chosen AND status = 'ok' AND plan_hash != ''
        ) AS captured ON captured.instance = ran.instance AND captured.captured_at <= ran.event_time)
{%- endmacro -%}
{#- Of charts over time, for a WITH that names range_start and range_end: seconds, for some 200 buckets in the range. -#}
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
