-- Statements by total time in the range, with their p95 now and in the equally long time before it. At most `most` rows, of
-- the query ids `query_ids`, or of all if it is empty. `all_seconds` is the total time of all statements, and `last_seen` the time
-- of the last execution in the range; it may be the beginning of its hour if the range is longer than two days.
--
-- Sources as in page_query_overview.sql.
-- Parameters: from, to, cluster, instance, query_ids, most.
{%- set exact = exact | default(false) %}
WITH
    {to:DateTime('UTC')} AS range_end,
    {from:DateTime('UTC')} AS range_start,
    range_end - range_start <= 2 * 86400 AS exact,
    range_start AS oldest,
    range_start AS before_end,
{%- include "parts/whole_days.sql" -%}
    ,
    parts AS (
        {%- if not exact %}
        SELECT query_id AS id, sum(query_time) AS seconds, sum(weight) AS runs, max(last_hour) AS latest
        FROM tailrace.query_classes_1d
        WHERE NOT exact AND {{ in_whole_days() }}
            AND ({cluster:String} = '' OR cluster = {cluster:String}) AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY id
        UNION ALL
        SELECT query_id AS id, sum(query_time) AS seconds, sum(weight) AS runs, max(hour) AS latest
        FROM tailrace.query_classes_1h
        WHERE NOT exact AND {{ in_whole_hours() }}
            AND ({cluster:String} = '' OR cluster = {cluster:String}) AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY id
        UNION ALL
        {%- endif %}
        SELECT
            query_id AS id, sum(query_events.query_time * weight) AS seconds, sum(weight) AS runs,
            toDateTime(max(event_time), 'UTC') AS latest
        FROM tailrace.query_events
        WHERE {{ of_events(exact) }}
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
