-- Executions and p95 of several statements in the time range (`now`) and in the equally long time before it (`before`): one row
-- per statement and period with entries. Ranges as in page_query_overview.sql.
-- Parameters: from, to, query_ids, cluster, instance.
WITH
    {to:DateTime('UTC')} AS range_end,
    range_end - {from:DateTime('UTC')} AS shown,
    shown <= 2 * 86400 AS exact,
    if(exact, {from:DateTime('UTC')}, toStartOfHour({from:DateTime('UTC')})) AS range_start,
    measures AS (
        SELECT query_id AS id, event_time >= range_start AS is_now, query_events.query_time AS seconds, sum(weight) AS weight_each
        FROM tailrace.query_events
        WHERE exact AND query_id IN {query_ids:Array(UInt64)} AND event_time >= range_start - shown AND event_time < range_end
            AND ({cluster:String} = '' OR cluster = {cluster:String})
            AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY id, is_now, seconds
        UNION ALL
        SELECT query_id AS id, hour >= range_start AS is_now, query_time_of_bucket AS seconds, sum(weight) AS weight_each
        FROM tailrace.query_classes_1h
        WHERE NOT exact AND query_id IN {query_ids:Array(UInt64)} AND hour >= range_start - shown AND hour < range_end
            AND ({cluster:String} = '' OR cluster = {cluster:String})
            AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY id, is_now, seconds)
SELECT
    id, if(is_now, 'now', 'before') AS period, sum(weight_each) AS executions,
    quantileExactWeighted(0.95)(seconds, toUInt64(round(weight_each))) AS p95
FROM measures
GROUP BY id, period
