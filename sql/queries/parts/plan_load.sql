{#- Executions and total time by plan, for a WITH that defines range_start and range_end: one row per server, statement and
    plan. The plan of an execution is the one in its log entry, or else the last one that was captured before it. -#}
{#- Whether a plan was in use in the range: executions are exact, but tailrace.plans is written at most once an hour of the job,
    so `last_seen` can be early by hours when old logs are read. `ran` is a time of an execution, 1970 if there is none. -#}
{%- macro in_use(ran, first_seen, last_seen) -%}
    ({{ ran }} >= range_start OR {{ last_seen }} >= range_start AND {{ last_seen }} < toDateTime64(range_end, 6, 'UTC')
        OR {{ first_seen }} >= range_start AND {{ first_seen }} < toDateTime64(range_end, 6, 'UTC'))
{%- endmacro -%}
{%- macro plan_load() -%}
        SELECT
            instance, id, plan_hash, sum(executions) AS executions, sum(seconds) AS seconds,
            min(ran_from) AS ran_from, max(ran_at) AS ran_at
        FROM (
            SELECT
                query_events.instance AS instance, query_events.query_id AS id, plan_hash,
                sum(weight) AS executions, sum(weight * query_time) AS seconds,
                min(event_time) AS ran_from, max(event_time) AS ran_at
            FROM tailrace.query_events
            WHERE plan_hash != '' AND event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC')
            GROUP BY query_events.instance, query_events.query_id, plan_hash
            UNION ALL
            SELECT
                ran.instance AS instance, ran.query_id AS id, captured.plan_hash AS plan_hash,
                sum(weight) AS executions, sum(weight * query_time) AS seconds,
                min(event_time) AS ran_from, max(event_time) AS ran_at
            FROM (
                SELECT instance, query_id, event_time, weight, query_time
                FROM tailrace.query_events
                WHERE plan_hash = '' AND event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC')
                    AND (instance, query_id) IN (SELECT instance, query_id FROM tailrace.plan_captures)
            ) AS ran
            ASOF JOIN (
                SELECT instance, query_id, captured_at, toString(plan_hash) AS plan_hash
                FROM tailrace.plan_captures FINAL
                WHERE status = 'ok' AND plan_hash != ''
            ) AS captured
                ON captured.instance = ran.instance AND captured.query_id = ran.query_id
                AND captured.captured_at <= ran.event_time
            GROUP BY ran.instance, ran.query_id, captured.plan_hash)
        GROUP BY instance, id, plan_hash
{%- endmacro -%}
