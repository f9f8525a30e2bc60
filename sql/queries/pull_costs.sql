{%- include "parts/time_range.sql" -%}
{%- set read_logs -%}
{%- include "page_setup_logs.sql" -%}
{%- endset -%}
-- What reading each pulled log cost in the time range: requests to its service, bytes of the answers and of lines, and the same in
-- 30 days at this rate, which is unknown if less than an hour is known. The current period of ten minutes is missing until its end.
-- The puller counts no requests to topics and event hubs: NULL.
-- `unread_bytes` and `lag_seconds` are those of now, of all files of this kind of log of the server; NULL if no census of it arrives.
WITH
    {{ shown_range(7) }},
    costs AS (
        SELECT argMax(cluster, at) AS cluster, instance, source, log,
            if(match(log, '^/(otlp|event_hubs)/'), NULL, sum(requests)) AS sum_requests,
            sum(received_bytes) AS sum_received_bytes, sum(line_bytes) AS sum_line_bytes,
            toInt64(sum(dateDiff('second', since, at))) AS known_seconds
        FROM tailrace.pull_costs FINAL
        WHERE at >= range_start AND at < toDateTime64(range_end, 6, 'UTC')
        GROUP BY instance, source, log
    ),
    lags AS (
        SELECT instance, source, sum(unread_bytes) AS unread, max(lag_seconds) AS lag, max(state = 'silent') AS has_silent
        FROM ({{ read_logs | replace("{now:DateTime('UTC')}", "now('UTC')") | replace("{instance:String}", "''") }})
        GROUP BY instance, source
    )
SELECT
    {{ end_of_range() }} AS as_of,
    costs.cluster AS cluster, costs.instance AS instance, costs.source AS source, costs.log AS log,
    sum_requests AS requests, sum_received_bytes AS received_bytes, sum_line_bytes AS line_bytes, known_seconds,
    if(known_seconds < 3600, NULL, toUInt64(round(requests * 30 * 86400 / known_seconds))) AS monthly_requests,
    if(known_seconds < 3600, NULL, toUInt64(round(received_bytes * 30 * 86400 / known_seconds))) AS monthly_bytes,
    if(lags.instance = '' OR has_silent, NULL, unread) AS unread_bytes,
    if(lags.instance = '' OR has_silent, NULL, lag) AS lag_seconds
FROM costs
LEFT JOIN lags ON lags.instance = costs.instance AND lags.source = costs.source
