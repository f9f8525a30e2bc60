{%- include "parts/slower.sql" -%}
-- Statements that became slower, by server, as parts/slower.sql defines it: the same rows as those of slow_compared.sql with the
-- verdict `slower`, the most total time first. `grew` says which measures grew. Statements that cannot be compared have an
-- `obstacle`, the reason, and come last. At most 10,000 rows.
-- Parameters: from, to, cluster, instance ('' for all).
WITH
    {to:DateTime('UTC')} AS range_end,
    {from:DateTime('UTC')} AS range_start,
    {{ judged_statements(" AND ({cluster:String} = '' OR cluster = {cluster:String}) AND ({instance:String} = '' OR instance = {instance:String})") }}
SELECT
    judged.query_id AS id, toString(instance) AS server, query, if(obstacle = '', grown, '') AS grew,
    judged.total_before AS seconds_before, judged.total_now AS total_seconds, judged.executions_before AS executions_before,
    judged.executions_now AS executions, q_before[4] AS p95_before, q_now[4] AS p95, q_before[8] AS p99_before, q_now[8] AS p99,
    judged.lock_before AS lock_seconds_before, judged.lock_now AS lock_seconds,
    obstacle
FROM judged
WHERE difference = 'slower' OR difference != '' AND obstacle != ''
ORDER BY obstacle != '', total_seconds DESC, server, id
LIMIT 10000
