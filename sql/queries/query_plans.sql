{%- include "parts/statement.sql" -%}
{%- include "parts/links.sql" -%}
{%- include "parts/logging.sql" -%}
{%- include "parts/number_links.sql" -%}
{%- include "parts/plan_load.sql" -%}
-- The plans of one statement in the time range with their executions, and the effect of the change to each.
--
-- One row per server, plan and source that was in use in the time range. Percentiles cover the entries since the logging settings of each server last
-- changed: a plan that ran only before that has none, because percentiles depend on the settings and not only on the
-- plan.
WITH
    {{ chosen_statement() }},
    {{ latest_changes() }},
    {{ executions_with_plans() }},
    load AS (
        SELECT
            executions_with_plans.instance AS instance, plan_hash,
            min(event_time) AS ran_from, max(event_time) AS ran_to,
            sum(weight) AS executions, sum(weight * query_time) AS seconds,
            sumIf(weight, latest) AS comparable,
            quantileExactWeightedIf(0.50)(query_time, toUInt64(round(weight)), latest) AS p50,
            quantileExactWeightedIf(0.95)(query_time, toUInt64(round(weight)), latest) AS p95,
            sum(weight * rows_examined) / sum(weight) AS examined_each
        FROM (SELECT *, {{ is_latest('instance', 'event_time') }} AS latest FROM executions_with_plans) AS executions_with_plans
        GROUP BY executions_with_plans.instance, plan_hash),
    changes AS (
        SELECT plan_changes.instance AS instance, new_plan AS plan_hash,
            argMax(verdict, changed_at) AS verdict, argMax(ratio, changed_at) AS ratio, max(changed_at) AS at
        FROM tailrace.plan_changes FINAL
        WHERE plan_changes.query_id = chosen
        GROUP BY plan_changes.instance, new_plan)
SELECT
    leftPad(hex(plan_rows.id), 16, '0') AS query_id,
    plan_rows.cluster AS cluster, plan_rows.instance AS instance, plan_rows.plan_hash AS plan_hash, source,
    toDateTime(if(load.executions > 0, least(first_seen, load.ran_from), first_seen), 'UTC') AS first_seen_at,
    toDateTime(greatest(last_seen, load.ran_to), 'UTC') AS time,
    toDateTime(nullIf(load.ran_from, toDateTime64(0, 6, 'UTC')), 'UTC') AS ran_from_at,
    toDateTime(nullIf(load.ran_to, toDateTime64(0, 6, 'UTC')), 'UTC') AS ran_to_at,
    load.executions AS executions, load.seconds AS seconds,
    if(load.comparable = 0, NULL, load.p50) AS p50,
    if(load.comparable = 0, NULL, load.p95) AS p95,
    if(executions = 0, NULL, load.examined_each) AS examined_each,
    multiIf(
        changes.verdict = '', '',
        changes.verdict IN ('slower', 'faster'), concat(changes.verdict, ', ', {{ three_digits('changes.ratio') }}, ' times as long'),
        changes.verdict = 'no_difference', 'no difference',
        changes.verdict) AS verdict,
    toDateTime(nullIf(changes.at, toDateTime64(0, 6, 'UTC')), 'UTC') AS changed_at,
    arrayStringConcat(arrayMap((name, access) -> concat(name, ' ', access), tables, access_types), ', ') AS accesses,
    arrayStringConcat(advice, '\n') AS advice,
    cost,
    {{ link_to_plan('plan_hash', "'tree'") }} AS link
FROM (
    SELECT
        plans.instance AS instance, plans.query_id AS id, plan_hash, source,
        any(plans.cluster) AS cluster, min(first_seen_at) AS first_seen, max(last_seen_at) AS last_seen,
        anyLast(advice) AS advice, anyLast(tables) AS tables, anyLast(access_types) AS access_types,
        anyLast(cost) AS cost
    FROM tailrace.plans
    WHERE plans.query_id = chosen
    GROUP BY plans.instance, plans.query_id, plan_hash, source
) AS plan_rows
LEFT JOIN load ON load.instance = plan_rows.instance AND load.plan_hash = plan_rows.plan_hash
LEFT JOIN changes ON changes.instance = plan_rows.instance AND changes.plan_hash = plan_rows.plan_hash
WHERE {{ in_use('load.ran_to', 'first_seen', 'last_seen') }}
