-- Executions and latency of one statement, read once and grouped in several ways. `kind` is
--   `period`: the time range (`now`), and the equally long time before it (`before`);
--   `yesterday`: the same time of the day before, for ranges under 24 hours;
--   `server`: each server in the time range;
--   `bucket`: each `width` seconds of the time range, named by their start as a Unix time. `latency_classes` are powers of two
--     of a second (-3: 125 to 250 ms; -20: all below 2 µs), `latency_executions` their executions: a column of the heat map.
-- Groups without entries have no row.
--
-- Ranges of at most two days come from the events, exact to the second. Longer ranges come from the hourly rollup: they start
-- at a full hour, and latencies are within 1 %.
-- Parameters: from, to, query_ids (the statement's query query_ids), cluster, instance ('' for all), width.
WITH
    {to:DateTime('UTC')} AS range_end,
    range_end - {from:DateTime('UTC')} AS shown,
    shown <= 2 * 86400 AS exact,
    if(exact, {from:DateTime('UTC')}, toStartOfHour({from:DateTime('UTC')})) AS range_start,
    range_start - if(shown < 86400, 86400, shown) AS oldest,
    measures AS (
        SELECT
            instance, event_time >= range_start AS is_now,
            event_time >= range_start - shown AND event_time < range_start AS is_before,
            shown < 86400 AND event_time >= range_start - 86400 AND event_time < range_end - 86400 AS is_yesterday,
            if(is_now, intDiv(toUInt32(event_time), {width:UInt32}) * {width:UInt32}, 0) AS slot,
            query_events.query_time AS seconds,
            count() AS entries_each, sum(weight) AS weight_each, sum(query_events.query_time * weight) AS time_each,
            sum(query_events.lock_time * weight) AS lock_each, sum(query_events.rows_examined * weight) AS examined_each,
            sum(query_events.rows_sent * weight) AS sent_each
        FROM tailrace.query_events
        WHERE exact AND query_id IN {query_ids:Array(UInt64)} AND event_time >= oldest AND event_time < range_end
            AND ({cluster:String} = '' OR cluster = {cluster:String})
            AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY instance, is_now, is_before, is_yesterday, slot, seconds
        UNION ALL
        SELECT
            instance, hour >= range_start AS is_now, hour < range_start AS is_before, 0 AS is_yesterday,
            if(is_now, intDiv(toUInt32(hour), {width:UInt32}) * {width:UInt32}, 0) AS slot,
            query_time_of_bucket AS seconds,
            sum(count) AS entries_each, sum(weight) AS weight_each, sum(query_time) AS time_each,
            sum(lock_time) AS lock_each, sum(rows_examined) AS examined_each, sum(rows_sent) AS sent_each
        FROM tailrace.query_classes_1h
        WHERE NOT exact AND query_id IN {query_ids:Array(UInt64)} AND hour >= oldest AND hour < range_end
            AND ({cluster:String} = '' OR cluster = {cluster:String})
            AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY instance, is_now, is_before, is_yesterday, slot, seconds)
SELECT
    multiIf(
        grouping(period) = 0, 'period', grouping(is_yesterday) = 0, 'yesterday', grouping(server) = 0, 'server', 'bucket') AS kind,
    multiIf(
        kind = 'period', period, kind = 'server', server, kind = 'bucket', toString(slot), is_yesterday, 'yesterday', '') AS name,
    sum(entries_each) AS entries,
    sum(weight_each) AS executions,
    sum(time_each) AS total_seconds,
    quantilesExactWeighted(0.5, 0.95, 0.99)(seconds, toUInt64(round(weight_each))) AS levels,
    levels[1] AS p50, levels[2] AS p95, levels[3] AS p99,
    sum(lock_each) AS lock_seconds,
    sum(examined_each) AS examined,
    sum(sent_each) AS sent,
    sumMap([if(seconds <= 0, -20, greatest(-20, toInt16(floor(log2(seconds)))))], [weight_each]) AS classes,
    classes.1 AS latency_classes, classes.2 AS latency_executions
FROM (
    SELECT *, if(is_now, 'now', if(is_before, 'before', '')) AS period, if(is_now, toString(instance), '') AS server
    FROM measures)
GROUP BY GROUPING SETS ((period), (is_yesterday), (server), (slot))
HAVING name NOT IN ('', '0')
ORDER BY kind, name
