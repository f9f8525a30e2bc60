{%- include "parts/plan_load.sql" -%}
{%- include "parts/links.sql" -%}
{%- include "parts/utc.sql" -%}
-- Plans of statements by total time.
--
-- One row per server, statement, plan and source that was in use in the time range. `time` is the last time in it.
WITH
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 86400 * 7" }} AS range_start,
    plan_rows AS (
        SELECT
            plans.instance AS instance, plans.query_id AS id, plan_hash, source,
            any(plans.cluster) AS cluster, any(plans.database) AS database,
            min(first_seen_at) AS first_seen, max(last_seen_at) AS last_seen,
            anyLast(tree) AS tree, anyLast(advice) AS advice,
            anyLast(tables) AS tables, anyLast(access_types) AS access_types, anyLast(cost) AS cost
        FROM tailrace.plans
        GROUP BY plans.instance, plans.query_id, plan_hash, source),
    load AS (
{{ plan_load() }}),
    texts AS (
        SELECT query_id AS id, any(fingerprint) AS query FROM tailrace.fingerprints
        WHERE query_id IN (SELECT query_id FROM tailrace.plans) GROUP BY query_id)
SELECT
    toDateTime(greatest(
        load.ran_at, if(last_seen < toDateTime64(range_end, 6, 'UTC'), last_seen, load.ran_at), if(first_seen < toDateTime64(range_end, 6, 'UTC'), first_seen, load.ran_at)), 'UTC') AS time,
    toDateTime(if(load.executions > 0, least(first_seen, load.ran_from), first_seen), 'UTC') AS first_seen_at,
    plan_rows.cluster AS cluster, plan_rows.instance AS instance, plan_rows.database AS database,
    leftPad(hex(plan_rows.id), 16, '0') AS query_id,
    texts.query AS query,
    plan_rows.plan_hash AS plan_hash, source, tree,
    arrayStringConcat(advice, '\n') AS advice,
    length(plan_rows.advice) AS advised,
    arrayStringConcat(arrayMap((name, access) -> concat(name, ' ', access), tables, access_types), ', ') AS accesses,
    cost,
    load.executions AS executions, load.seconds AS seconds,
    {{ link_to_query('query_id', "'open'") }} AS link
FROM plan_rows
LEFT JOIN load ON load.instance = plan_rows.instance AND load.id = plan_rows.id AND load.plan_hash = plan_rows.plan_hash
LEFT JOIN texts ON texts.id = plan_rows.id
WHERE {{ in_use('load.ran_at', 'first_seen', 'last_seen') }}
