{%- include "parts/statement.sql" -%}
{%- include "parts/plan_load.sql" -%}
{%- include "parts/plan_tree.sql" -%}
-- The plan trees of one statement in the time range, by total time, at most five.
--
-- One row per step, and one for the common root, which contains the number of plans.
WITH
    {{ chosen_statement() }},
    {{ executions_with_plans() }},
    load AS (
        SELECT plan_hash, sum(weight * query_time) AS seconds, max(event_time) AS ran_at
        FROM executions_with_plans
        GROUP BY plan_hash),
    known AS (
        SELECT plans.query_id AS query_id, plan_hash, argMax(tree, last_seen_at) AS tree, min(first_seen_at) AS first_seen, max(last_seen_at) AS last_seen
        FROM tailrace.plans
        WHERE plans.query_id = chosen
        GROUP BY plans.query_id, plan_hash),
    drawn AS (
        SELECT
            query_id, plan_hash, splitByChar('\n', tree) AS lines, greatest(known.last_seen, load.ran_at) AS last_seen,
            row_number() OVER (ORDER BY seconds DESC, plan_hash) AS position,
            count() OVER () AS plans
        FROM known
        LEFT JOIN load USING (plan_hash)
        WHERE {{ in_use('load.ran_at', 'known.first_seen', 'known.last_seen') }}
        QUALIFY position <= 5)
{{ steps_of_drawn("concat(toString(count()), if(count() = any(plans), '', concat(' of ', toString(any(plans)))), if(any(plans) = 1, ' plan', ' plans'))") }}
