-- Which logs of which servers have records from one day before `from` until `to`, by whole days, and since when any do.
-- A number that a log would contain is unknown for a server without that log. Slow query logs of MySQL and MariaDB have no errors
-- of statements (error_code is NULL). Parameters: from, to, cluster, instance.
SELECT
    instance,
    has(logs, 'audit') AS has_audit, has(logs, 'general') AS has_general, has(logs, 'slowlog') AS has_slow,
    has(logs, 'errorlog') AS has_error,
    instance IN (
        SELECT query_events.instance
        FROM tailrace.query_events
        WHERE ifNull(error_code, -1) != -1 -- IS NOT NULL does not use the projection executions_by_day
            AND toDate(event_time) >= toDate({from:DateTime64(6, 'UTC')}) - 1
            AND toDate(event_time) <= toDate({to:DateTime64(6, 'UTC')} - INTERVAL 1 MICROSECOND)
            AND ({cluster:String} = '' OR cluster = {cluster:String}) AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY query_events.instance
    ) AS has_slow_errors,
    (
        SELECT min(first_record)
        FROM (
            SELECT min(event_time) AS first_record FROM tailrace.audit_events HAVING count() > 0
            UNION ALL
            SELECT min(event_time) FROM tailrace.query_events HAVING count() > 0)
    ) AS earliest
FROM (
    SELECT instance, groupUniqArray(log) AS logs
    FROM (
        SELECT
            instance,
            multiIf(event_table = 'query_events', 'slowlog', event_table = 'error_events', 'errorlog', toString(source)) AS log
        FROM tailrace.entities_1d
        WHERE entity_kind = 'log'
            AND toDate(day) >= toDate({from:DateTime64(6, 'UTC')}) - 1
            AND toDate(day) <= toDate({to:DateTime64(6, 'UTC')} - INTERVAL 1 MICROSECOND)
            AND ({cluster:String} = '' OR cluster = {cluster:String}) AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY instance, log)
    GROUP BY instance)
ORDER BY instance
