-- The queries of the events that an alert names, those with the most events first. `sent` is the number of rows sent by the `known`
-- events. Audit logs do not contain it: `linked` events have it from the slow log of their server, if exactly one entry there is
-- the same execution: same query, user and session, and a time within a second, or within the duration of the statement. Entries without
-- a session are compared by time only. An execution that repeats within this time is not linked. `total` is the number of queries;
-- `all_events`, `all_known`, `all_linked` and `all_sent` are sums over all of them. Parameters: instance, event_ids, from, to.
WITH
    audited AS (
        SELECT event_id, assumeNotNull(query_id) AS id, event_time, connection_id, toString(user) AS account,
            has({event_ids:Array(String)}, toString(event_id)) AS is_named
        FROM tailrace.audit_events
        WHERE instance = {instance:String}
            AND event_time >= {from:DateTime('UTC')}
            AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
            AND query_id IS NOT NULL
            AND (assumeNotNull(query_id), user) GLOBAL IN (
                SELECT assumeNotNull(query_id), user FROM tailrace.audit_events
                WHERE instance = {instance:String}
                    AND event_time >= {from:DateTime('UTC')}
                    AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
                    AND query_id IS NOT NULL
                    AND has({event_ids:Array(String)}, toString(event_id)))),
    slow AS (
        SELECT event_id, query_id AS id, event_time, connection_id, toString(user) AS account, query_time, rows_sent,
            has({event_ids:Array(String)}, toString(event_id)) AS is_named
        FROM tailrace.query_events
        WHERE instance = {instance:String}
            AND event_time >= {from:DateTime('UTC')}
            AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
            AND (has({event_ids:Array(String)}, toString(event_id)) OR query_id GLOBAL IN (SELECT id FROM audited WHERE is_named))),
    pairs AS (
        SELECT audited.event_id AS audit_id, slow.event_id AS slow_id, slow.rows_sent AS sent, slow.is_named AS is_counted
        FROM audited
        INNER JOIN slow ON slow.id = audited.id AND slow.account = audited.account
        WHERE if(audited.connection_id = 0 OR slow.connection_id = 0,
            abs(dateDiff('microsecond', audited.event_time, slow.event_time)) <= 1e6,
            audited.connection_id = slow.connection_id
                AND abs(dateDiff('microsecond', audited.event_time, slow.event_time)) <= 1e6 + 1e6 * slow.query_time)),
    executions AS (
        SELECT audit_id, any(sent) AS rows, any(is_counted) AS is_counted
        FROM pairs
        WHERE slow_id NOT IN (SELECT slow_id FROM pairs GROUP BY slow_id HAVING count() > 1)
        GROUP BY audit_id
        HAVING count() = 1 AND audit_id NOT IN (SELECT audit_id FROM pairs GROUP BY audit_id HAVING count() > 1))
SELECT
    leftPad(hex(id), 16, '0') AS query,
    count() AS events,
    countIf(is_known) AS known,
    countIf(is_linked) AS linked,
    sum(rows) AS sent,
    sum(count()) OVER () AS all_events,
    sum(countIf(is_known)) OVER () AS all_known,
    sum(countIf(is_linked)) OVER () AS all_linked,
    sum(sum(rows)) OVER () AS all_sent,
    count() OVER () AS total
FROM (
    -- An alert that names the entry of the slow log too counts its rows once.
    SELECT audited.id AS id, executions.audit_id = audited.event_id AS is_linked, is_linked AS is_known,
        if(is_linked AND NOT executions.is_counted, toUInt64(executions.rows), 0) AS rows
    FROM audited
    LEFT JOIN executions ON executions.audit_id = audited.event_id
    WHERE audited.is_named
    UNION ALL
    SELECT id, false, true, toUInt64(rows_sent) FROM slow WHERE is_named)
GROUP BY id
ORDER BY events DESC, query
LIMIT 5
