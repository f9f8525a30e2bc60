-- The queries of the events that an alert names, those with the most events first. `sent` is the number of rows sent by the `known`
-- events, those of slow query logs: audit logs do not contain it. `total` is the number of queries; `all_events`, `all_known` and
-- `all_sent` are sums over all of them. Parameters: instance, event_ids, from, to.
SELECT
    leftPad(hex(id), 16, '0') AS query,
    count() AS events,
    count(rows) AS known,
    ifNull(sum(rows), 0) AS sent,
    sum(count()) OVER () AS all_events,
    sum(count(rows)) OVER () AS all_known,
    sum(ifNull(sum(rows), 0)) OVER () AS all_sent,
    count() OVER () AS total
FROM (
    SELECT assumeNotNull(query_id) AS id, CAST(NULL, 'Nullable(UInt64)') AS rows
    FROM tailrace.audit_events
    WHERE instance = {instance:String}
        AND event_time >= {from:DateTime('UTC')}
        AND event_time < {to:DateTime('UTC')}
        AND query_id IS NOT NULL
        AND has({event_ids:Array(String)}, toString(event_id))
    UNION ALL
    SELECT query_id AS id, toNullable(rows_sent) AS rows
    FROM tailrace.query_events
    WHERE instance = {instance:String}
        AND event_time >= {from:DateTime('UTC')}
        AND event_time < {to:DateTime('UTC')}
        AND has({event_ids:Array(String)}, toString(event_id)))
GROUP BY id
ORDER BY events DESC, query
LIMIT 5
