{%- include "parts/plan_load.sql" -%}
{%- include "parts/links.sql" -%}
{%- include "parts/utc.sql" -%}
-- Advice by the total time of the statements with the affected plans.
--
-- One row per piece of advice, plan and server, for plans that ran in the time range. The time of a statement counts
-- for each piece of advice about its plan: it is the affected time, not the time that the advice would save, which is
-- unknown.
WITH
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 86400 * 7" }} AS range_start,
    advised AS (
        SELECT
            plans.instance AS instance, plans.query_id AS id, plan_hash,
            any(plans.cluster) AS cluster, any(plans.database) AS database,
            arrayJoin(argMax(advice, last_seen_at)) AS line
        FROM tailrace.plans
        GROUP BY plans.instance, plans.query_id, plan_hash),
    load AS (
{{ plan_load() }}),
    texts AS (
        SELECT query_id AS id, any(fingerprint) AS query FROM tailrace.fingerprints
        WHERE query_id IN (SELECT query_id FROM tailrace.plans) GROUP BY query_id),
    (
        SELECT sum(query_time) FROM tailrace.query_load_1m
        WHERE minute >= toStartOfMinute(range_start) AND minute < range_end
    ) AS all_seconds,
    splitByString(' · ', line) AS said
SELECT
    toDateTime(ran_at, 'UTC') AS time,
    advised.cluster AS cluster, advised.instance AS instance, advised.database AS database,
    leftPad(hex(advised.id), 16, '0') AS query_id,
    texts.query AS query,
    said[1] AS kind,
    said[2] AS advice,
    arrayStringConcat(arraySlice(said, 3), ' · ') AS evidence,
    advised.plan_hash AS plan_hash,
    load.executions AS executions,
    load.seconds AS seconds,
    load.seconds / nullIf(all_seconds, 0) AS part,
    {{ link_to_query('query_id', "'open'") }} AS link,
    {{ page_of_statement('query_id', "'show'") }} AS proposal
FROM advised
JOIN load ON load.instance = advised.instance AND load.id = advised.id AND load.plan_hash = advised.plan_hash
LEFT JOIN texts ON texts.id = advised.id
