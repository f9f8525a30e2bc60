-- Executions and latency of one statement, read once and grouped in several ways. `kind` is
--   `period`: the time range (`now`), and the earlier period (`before`, parts/earlier.sql);
--   `yesterday`: the same time of the day before, for ranges under 24 hours;
--   `server`: each server in the time range;
--   `bucket`: each `width` seconds of the time range, named by their start as a Unix time. `latency_classes` are powers of two
--     of a second (-3: 125 to 250 ms; -20: all below 2 µs), `latency_executions` their executions: a column of the heat map.
-- Groups without entries have no row.
--
-- Ranges of at most two days come from the events. Longer ones come from the daily and hourly rollups and, at their ends, from
-- the events (parts/whole_days.sql): their latencies are within 1 %.
-- Parameters: from, to, query_ids (the statement's query ids), cluster, instance ('' for all), width.
{%- set exact = exact | default(false) %}
WITH
    {to:DateTime('UTC')} AS range_end,
    {from:DateTime('UTC')} AS range_start,
{%- include "parts/earlier.sql" -%}
    ,
    range_end - range_start <= 2 * 86400 AS exact,
    {width:UInt32} % 86400 = 0 AS in_days,
    if(shown < 86400, range_start - 86400, before_start) AS oldest,
{%- include "parts/whole_days.sql" -%}
    ,
    measures AS (
        SELECT
            instance, event_time >= range_start AS is_now,
            event_time >= before_start AND event_time < toDateTime64(before_end, 6, 'UTC') AS is_before,
            shown < 86400 AND event_time >= range_start - 86400 AND event_time < toDateTime64(range_start - 86400 + shown, 6, 'UTC') AS is_yesterday,
            if(is_now, intDiv(toUInt32(event_time), {width:UInt32}) * {width:UInt32}, 0) AS slot,
            [query_events.query_time] AS seconds, [sum(weight)] AS weights,
            count() AS entries_each, sum(query_events.query_time * weight) AS time_each,
            sum(query_events.lock_time * weight) AS lock_each, sum(query_events.rows_examined * weight) AS examined_each,
            sum(query_events.rows_sent * weight) AS sent_each
        FROM tailrace.query_events
        WHERE query_id IN {query_ids:Array(UInt64)} AND {{ of_events(exact) }}
            AND ({cluster:String} = '' OR cluster = {cluster:String})
            AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY instance, is_now, is_before, is_yesterday, slot, query_events.query_time
        {%- if not exact %}
        UNION ALL
        SELECT
            instance, hour >= range_start AS is_now, hour < before_end AS is_before, 0 AS is_yesterday,
            if(is_now, intDiv(toUInt32(hour), {width:UInt32}) * {width:UInt32}, 0) AS slot,
            [query_time_of_bucket] AS seconds, [sum(weight)] AS weights,
            sum(count) AS entries_each, sum(query_time) AS time_each,
            sum(lock_time) AS lock_each, sum(rows_examined) AS examined_each, sum(rows_sent) AS sent_each
        FROM tailrace.query_classes_1h
        WHERE NOT exact AND query_id IN {query_ids:Array(UInt64)} AND {{ in_whole_hours('NOT in_days AND hour >= range_start') }}
            AND ({cluster:String} = '' OR cluster = {cluster:String})
            AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY instance, is_now, is_before, is_yesterday, slot, query_time_of_bucket
        UNION ALL
        SELECT
            instance, day >= range_start AS is_now, day < before_end AS is_before, 0 AS is_yesterday,
            if(is_now, intDiv(toUInt32(day), {width:UInt32}) * {width:UInt32}, 0) AS slot,
            arrayMap(bucket -> if(bucket = -32768, 0, pow(1.02, bucket)), latencies.1) AS seconds, latencies.2 AS weights,
            count AS entries_each, query_time AS time_each,
            lock_time AS lock_each, rows_examined AS examined_each, rows_sent AS sent_each
        FROM tailrace.query_classes_1d
        WHERE NOT exact AND query_id IN {query_ids:Array(UInt64)} AND {{ in_whole_days() }} AND (in_days OR day < range_start)
            AND ({cluster:String} = '' OR cluster = {cluster:String})
            AND ({instance:String} = '' OR instance = {instance:String})
        {%- endif %})
SELECT
    multiIf(
        grouping(period) = 0, 'period', grouping(is_yesterday) = 0, 'yesterday', grouping(server) = 0, 'server', 'bucket') AS kind,
    multiIf(
        kind = 'period', period, kind = 'server', server, kind = 'bucket', toString(slot), is_yesterday, 'yesterday', '') AS name,
    sum(entries_each) AS entries,
    sum(arraySum(weights)) AS executions,
    sum(time_each) AS total_seconds,
    quantilesExactWeightedArray(0.5, 0.95, 0.99)(seconds, arrayMap(weight_each -> toUInt64(round(weight_each)), weights)) AS levels,
    levels[1] AS p50, levels[2] AS p95, levels[3] AS p99,
    sum(lock_each) AS lock_seconds,
    sum(examined_each) AS examined,
    sum(sent_each) AS sent,
    sumMap(arrayMap(each -> if(each <= 0, -20, greatest(-20, toInt16(floor(log2(each))))), seconds), weights) AS classes,
    classes.1 AS latency_classes, classes.2 AS latency_executions
FROM (
    SELECT *, if(is_now, 'now', if(is_before, 'before', '')) AS period, if(is_now, toString(instance), '') AS server
    FROM measures)
GROUP BY GROUPING SETS ((period), (is_yesterday), (server), (slot))
HAVING name NOT IN ('', '0')
ORDER BY kind, name
