-- Executions, total time and p95 of several statements in the time range (`now`) and in the earlier period (`before`, parts/earlier.sql): one row
-- per statement and period with entries. Sources as in page_query_overview.sql.
-- Parameters: from, to, query_ids, cluster, instance.
{%- set exact = exact | default(false) %}
WITH
    {to:DateTime('UTC')} AS range_end,
    {from:DateTime('UTC')} AS range_start,
{%- include "parts/earlier.sql" -%}
    ,
    range_end - range_start <= 2 * 86400 AS exact,
    before_start AS oldest,
{%- include "parts/whole_days.sql" -%}
    ,
    measures AS (
        SELECT query_id AS id, event_time >= range_start AS is_now, [query_events.query_time] AS seconds, [sum(weight)] AS weights
        FROM tailrace.query_events
        WHERE query_id IN {query_ids:Array(UInt64)} AND {{ of_events(exact) }}
            AND ({cluster:String} = '' OR cluster = {cluster:String})
            AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY id, is_now, query_events.query_time
        {%- if not exact %}
        UNION ALL
        SELECT query_id AS id, hour >= range_start AS is_now, [query_time_of_bucket] AS seconds, [sum(weight)] AS weights
        FROM tailrace.query_classes_1h
        WHERE NOT exact AND query_id IN {query_ids:Array(UInt64)} AND {{ in_whole_hours() }}
            AND ({cluster:String} = '' OR cluster = {cluster:String})
            AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY id, is_now, query_time_of_bucket
        UNION ALL
        SELECT
            query_id AS id, day >= range_start AS is_now,
            arrayMap(bucket -> if(bucket = -32768, 0, pow(1.02, bucket)), latencies.1) AS seconds, latencies.2 AS weights
        FROM tailrace.query_classes_1d
        WHERE NOT exact AND query_id IN {query_ids:Array(UInt64)} AND {{ in_whole_days() }}
            AND ({cluster:String} = '' OR cluster = {cluster:String})
            AND ({instance:String} = '' OR instance = {instance:String})
        {%- endif %})
SELECT
    id, if(is_now, 'now', 'before') AS period, sum(arraySum(weights)) AS executions,
    sum(arraySum(arrayMap((each, weight_each) -> each * weight_each, seconds, weights))) AS total_seconds,
    quantileExactWeightedArray(0.95)(seconds, arrayMap(weight_each -> toUInt64(round(weight_each)), weights)) AS p95
FROM measures
GROUP BY id, period
