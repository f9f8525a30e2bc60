-- The time of the last event of the audit log and of the general log of each server in the last 7 days.
-- Parameters: now; instance (empty: all).
SELECT cluster, instance, source, toDateTime(max(event_time), 'UTC') AS last_event
FROM tailrace.audit_events
WHERE event_time >= {now:DateTime('UTC')} - INTERVAL 7 DAY AND ({instance:String} = '' OR instance = {instance:String})
GROUP BY cluster, instance, source
