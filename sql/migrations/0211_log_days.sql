-- The days of which records of a log are stored, by server and kind of log: a log may have been read long after its records
-- were written, when its census says nothing about their day. It has the privileges of its definer: developers may read it,
-- but not the users and tables beside these rows in entities_1d. Queries that ask for "all servers" or "all logs" read it.
CREATE VIEW IF NOT EXISTS tailrace.log_days {on_cluster}
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT DISTINCT
    cluster, instance,
    multiIf(event_table = 'query_events', 'slowlog', event_table = 'error_events', 'errorlog', toString(entities_1d.source)) AS source,
    toDate(day) AS record_day
FROM tailrace.entities_1d
WHERE entity_kind = 'log'
COMMENT 'Days (UTC) of which records of a kind of log of a server are stored'
