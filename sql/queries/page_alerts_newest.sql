-- How many alerts were raised since the inbox was drawn, without those that are suppressed. It reads two columns of
-- the parts of the last days, because the inbox asks every half minute.
SELECT uniqExact(alert_id) AS alerts
FROM tailrace.alerts
WHERE NOT silenced
    AND event_time >= now('UTC') - INTERVAL 7 DAY
    AND seen_at > fromUnixTimestamp64Micro({since:Int64}, 'UTC')
