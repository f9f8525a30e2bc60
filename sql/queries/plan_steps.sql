{%- include "parts/plan_load.sql" -%}
{%- include "parts/plan_tree.sql" -%}
{%- include "parts/utc.sql" -%}
-- The tree of a plan: the plans in the filter, or those of the statement in the filter, or the plan with the most total
-- time; at most three. If several servers or sources have the same plan, the latest counts.
--
-- One row per step, and one for the common root.
WITH
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 86400 * 7" }} AS range_start,
    load AS (
        SELECT id AS query_id, plan_hash, sum(seconds) AS seconds, max(ran_at) AS ran_at
        FROM (
{{ plan_load() }})
        GROUP BY id, plan_hash),
    known AS (
        SELECT plans.query_id AS query_id, plan_hash, argMax(tree, last_seen_at) AS tree, min(first_seen_at) AS first_seen, max(last_seen_at) AS last_seen
        FROM tailrace.plans
        WHERE true
        {%- if filter_values('plan_hash') %} AND plan_hash IN {{ filter_values('plan_hash') | where_in }}{% endif %}
        {%- if filter_values('query_id') %}
            AND leftPad(hex(plans.query_id), 16, '0') IN {{ filter_values('query_id') | where_in }}
        {%- endif %}
        {%- if filter_values('instance') %} AND plans.instance IN {{ filter_values('instance') | where_in }}{% endif %}
        GROUP BY plans.query_id, plan_hash),
    drawn AS (
        SELECT
            query_id, plan_hash, splitByChar('\n', tree) AS lines, greatest(known.last_seen, load.ran_at) AS last_seen,
            row_number() OVER (ORDER BY seconds DESC, plan_hash, query_id) AS position,
            count() OVER () AS plans
        FROM known
        LEFT JOIN load USING (query_id, plan_hash)
        WHERE {{ in_use('load.ran_at', 'known.first_seen', 'known.last_seen') }}
        QUALIFY position <= {{ 3 if filter_values('plan_hash') or filter_values('query_id') else 1 }})
{%- if filter_values('plan_hash') or filter_values('query_id') %}
{{ steps_of_drawn("concat(toString(count()), ' of ', toString(any(plans)), if(any(plans) = 1, ' plan', ' plans'))") }}
{%- else %}
{{ steps_of_drawn("concat('heaviest of ', toString(any(plans)), ' plans')") }}
{%- endif %}
