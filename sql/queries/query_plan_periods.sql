{%- include "parts/statement.sql" -%}
-- Intervals in which a statement ran with each plan, one row each.
--
-- Time is divided into about 200 buckets. An interval consists of adjacent buckets in which the plan ran; if two plans
-- ran in one bucket, their intervals overlap.
WITH
    {{ chosen_statement() }},
    {{ bucket_width() }},
    {{ executions_with_plans() }},
    buckets AS (
        SELECT
            executions_with_plans.instance AS instance, any(executions_with_plans.cluster) AS cluster, plan_hash,
            intDiv(toUInt32(toDateTime(event_time, 'UTC')), width) AS bucket,
            sum(weight) AS executions
        FROM executions_with_plans
        GROUP BY executions_with_plans.instance, plan_hash, bucket),
    periods AS (
        SELECT
            instance, any(cluster) AS cluster, plan_hash,
            min(bucket) AS first_bucket, max(bucket) AS last_bucket, sum(executions) AS executions
        FROM (
            SELECT *, toInt64(bucket) - row_number() OVER (PARTITION BY instance, plan_hash ORDER BY bucket) AS period_key
            FROM buckets)
        GROUP BY instance, plan_hash, period_key),
    leftPad(hex(ifNull(chosen, 0)), 16, '0') AS shown_id
SELECT
    shown_id AS query_id, cluster, instance, plan_hash,
    concat(plan_hash, ' · ', instance) AS plan,
    greatest(toDateTime(first_bucket * width, 'UTC'), range_start) AS from_time,
    least(toDateTime((last_bucket + 1) * width, 'UTC'), range_end) AS to_time,
    executions
FROM periods
