-- What reading each pulled log cost in the last 24 hours, for the page Setup: requests to its service, bytes of the answers and
-- of lines, and for how many seconds of these hours this is known. The current period is missing until its end. The puller counts no
-- requests to topics and event hubs: NULL.
-- Parameters: now; instance (empty: all).
SELECT cluster, instance, source, log,
    if(match(log, '^/(otlp|event_hubs)/'), NULL, sum(requests)) AS requests, sum(received_bytes) AS received_bytes,
    sum(line_bytes) AS line_bytes, toInt64(sum(dateDiff('second', since, at))) AS known_seconds
FROM tailrace.pull_costs FINAL
WHERE at > toDateTime64({now:DateTime('UTC')}, 6, 'UTC') - INTERVAL 1 DAY AND at <= {now:DateTime('UTC')}
    AND ({instance:String} = '' OR instance = {instance:String})
GROUP BY cluster, instance, source, log
ORDER BY instance, source, log
