-- The databases that the reader's rows show to exist. Failed records, general logs, which have a login before the server decides, and
-- error logs can name any database, also one of another server: they do not count. Without parameters.
SELECT toString(database) AS database
FROM tailrace.entities_1d
WHERE entity_kind = 'log' AND event_table IN ('audit_events', 'query_events') AND source != 'general' AND NOT has_failed
    AND database != ''
GROUP BY database
ORDER BY database
