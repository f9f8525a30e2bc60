-- Which details the audit records of the period hold (PCI DSS 10.2.2), by server and format of the log: how many records,
-- and how many of them say who, what kind of event, whether it succeeded, from where, and what was affected.
-- Parameters: from, to.
SELECT
    instance, source, format, count() AS records,
    countIf(user != '' OR priv_user != '') AS with_user,
    countIf(command != '' OR event_name != '') AS with_event_type,
    count() AS with_date_and_time,
    countIf(NOT has(flags, 'status_unknown')) AS with_outcome,
    countIf(host != '' OR ip != '') AS with_origin,
    countIf(database != '' OR object != '' OR notEmpty(tables_read) OR notEmpty(tables_written)) AS with_affected_object,
    countIf(has(flags, 'truncated')) AS cut_by_the_server,
    countIf(event_class = 'server') AS own_records_of_the_log
FROM tailrace.audit_events
WHERE event_time >= {from:DateTime('UTC')} AND event_time < {to:DateTime('UTC')}
GROUP BY instance, source, format
ORDER BY instance, source, format
