-- The channels of alerts.yaml with their last known state. A state that is older than half an hour is unknown: the service
-- writes it every ten minutes. Times in seconds since 1970; retry_seconds is 0 for a channel that is not paused.
SELECT
    channel,
    last.1 AS kind,
    if(last_at < now64(6) - INTERVAL 30 MINUTE, 'unknown', last.2) AS state,
    toUnixTimestamp(last.3) AS since_seconds,
    last.4 AS failures,
    toUnixTimestamp(last.5) AS retry_seconds,
    last.6 AS detail,
    toUnixTimestamp(toDateTime(last_at)) AS at_seconds
FROM
(
    SELECT
        channel,
        argMax(tuple(kind, state, since, failures, retry_at, detail), at) AS last,
        max(at) AS last_at
    FROM tailrace.delivery_channels
    GROUP BY channel
)
WHERE last.2 != 'removed'
ORDER BY channel
