-- The time of the last event of the slow log and of the error log of each server in the last 7 days; of a slow log to the
-- minute.
-- Parameters: now; instance (empty: all).
SELECT cluster, instance, 'slowlog' AS source, max(minute) AS last_event
FROM tailrace.query_load_1m
WHERE minute >= {now:DateTime('UTC')} - INTERVAL 7 DAY AND ({instance:String} = '' OR instance = {instance:String})
GROUP BY cluster, instance
UNION ALL
SELECT cluster, instance, 'errorlog', toDateTime(max(event_time), 'UTC')
FROM tailrace.error_events
WHERE event_time >= {now:DateTime('UTC')} - INTERVAL 7 DAY AND ({instance:String} = '' OR instance = {instance:String})
GROUP BY cluster, instance
