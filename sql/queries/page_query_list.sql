-- Statements by total time in the range, with their p95 now and in the equally long time before it. At most `most` rows, of
-- the query ids `query_ids`, or of all if it is empty. `all_seconds` is the total time of all statements, and `last_seen` the time
-- of the last execution in the range; it is the beginning of its hour if the range is longer than two days.
--
-- Ranges of at most two days come from the events, longer ones from the hourly rollup: whole days from its projection
-- totals_by_day, the hours of the first and last day from its rows.
-- Parameters: from, to, cluster, instance, query_ids, most.
WITH
    {to:DateTime('UTC')} AS range_end,
    range_end - {from:DateTime('UTC')} AS shown,
    shown <= 2 * 86400 AS exact,
    if(exact, {from:DateTime('UTC')}, toStartOfHour({from:DateTime('UTC')})) AS range_start,
    parts AS (
        SELECT
            query_id AS id, sum(query_time) AS seconds, sum(weight) AS runs,
            toDateTime(max(hour), 'UTC') AS latest
        FROM tailrace.query_classes_1h
        WHERE NOT exact AND toDate(hour) > toDate(range_start) AND toDate(hour) < toDate(range_end)
            AND ({cluster:String} = '' OR cluster = {cluster:String}) AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY id
        UNION ALL
        SELECT
            query_id AS id, sum(query_time) AS seconds, sum(weight) AS runs,
            toDateTime(max(hour), 'UTC') AS latest
        FROM tailrace.query_classes_1h
        WHERE NOT exact AND hour >= range_start AND hour < range_end
            AND (hour < toStartOfDay(range_start) + INTERVAL 1 DAY OR hour >= toStartOfDay(range_end))
            AND ({cluster:String} = '' OR cluster = {cluster:String}) AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY id
        UNION ALL
        SELECT
            query_id AS id, sum(query_events.query_time * weight) AS seconds, sum(weight) AS runs,
            toDateTime(max(event_time), 'UTC') AS latest
        FROM tailrace.query_events
        WHERE exact AND event_time >= range_start AND event_time < range_end
            AND ({cluster:String} = '' OR cluster = {cluster:String}) AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY id),
    totals AS (
        SELECT id, sum(seconds) AS total_seconds, sum(runs) AS executions, max(latest) AS last_seen
        FROM parts
        GROUP BY id),
    heaviest AS (
        SELECT id, total_seconds, executions, last_seen, sum(total_seconds) OVER () AS all_seconds, count() OVER () AS statements
        FROM totals
        QUALIFY empty({query_ids:Array(UInt64)}) OR has({query_ids:Array(UInt64)}, id)
        ORDER BY total_seconds DESC, id
        LIMIT {most:UInt32})
SELECT * FROM heaviest
