-- The details that the audit records of the period contain (PCI DSS 10.2.2), by server and log format: the number of
-- records, and the number of records with user, type of event, outcome, origin and affected object.
-- Parameters: from, to.
SELECT
    instance, source, format, count() AS records,
    countIf(user != '' OR priv_user != '') AS with_user,
    countIf(command != '' OR event_name != '') AS with_event_type,
    count() AS with_date_and_time,
    countIf(event_outcome != 'unknown') AS with_outcome,
    countIf(host != '' OR ip != '') AS with_origin,
    countIf(database != '' OR object != '' OR notEmpty(tables_read) OR notEmpty(tables_written)) AS with_affected_object,
    countIf(has(flags, 'truncated')) AS cut_by_the_server,
    countIf(event_class = 'server') AS own_records_of_the_log
FROM tailrace.audit_events
WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
GROUP BY instance, source, format
ORDER BY instance, source, format
