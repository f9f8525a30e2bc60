-- The versions of applications that ran one statement, from the tag `version` of its comments (ranges of at most two days)
-- and from the attribute `service.version` of its spans: one row per application and version. A version that first ran after
-- another one of its application is a deploy.
-- Parameters: from, to, query_ids.
SELECT application, version, toDateTime(min(first), 'UTC') AS first_seen, toDateTime(max(last), 'UTC') AS last_seen
FROM (
    SELECT
        toString(if(application = '', tags['service'], application)) AS application, tags['version'] AS version,
        min(event_time) AS first, max(event_time) AS last
    FROM tailrace.query_events
    WHERE {to:DateTime('UTC')} - {from:DateTime('UTC')} <= 2 * 86400 AND query_id IN {query_ids:Array(UInt64)}
        AND event_time >= {from:DateTime('UTC')} AND event_time < {to:DateTime('UTC')} AND tags['version'] != ''
    GROUP BY application, version
    UNION ALL
    SELECT
        toString(ServiceName) AS application, ResourceAttributes['service.version'] AS version,
        toDateTime64(min(Timestamp), 6, 'UTC') AS first, toDateTime64(max(Timestamp), 6, 'UTC') AS last
    FROM tailrace.otel_traces
    WHERE otel_traces.query_id IN {query_ids:Array(UInt64)} AND otel_traces.query_id != 0
        AND Timestamp >= {from:DateTime('UTC')} AND Timestamp < {to:DateTime('UTC')}
        AND ResourceAttributes['service.version'] != ''
    GROUP BY application, version)
GROUP BY application, version
ORDER BY first_seen, application, version
LIMIT 50
