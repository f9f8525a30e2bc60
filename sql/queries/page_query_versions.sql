-- The versions of the applications that ran one statement, from the tag `version` of their comments (ranges of at most two
-- days) and from the attribute `service.version` of their spans: one row per application and version. A version that first ran
-- after another one of its application is a deploy. The times are those of all statements of the application, so that a deploy
-- has one time on the pages of all of them; `ran_it` is whether this statement ran with the version.
-- Parameters: from, to, query_ids.
WITH (
    SELECT groupUniqArray(name) FROM (
        SELECT toString(if(application = '', tags['service'], application)) AS name
        FROM tailrace.query_events
        WHERE {to:DateTime('UTC')} - {from:DateTime('UTC')} <= 2 * 86400 AND query_id IN {query_ids:Array(UInt64)}
            AND event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        GROUP BY name
        HAVING name != '' OR max(tags['version']) != ''
        UNION ALL
        SELECT toString(ServiceName) AS name
        FROM tailrace.otel_traces
        WHERE otel_traces.query_id IN {query_ids:Array(UInt64)} AND otel_traces.query_id != 0
            AND Timestamp >= {from:DateTime('UTC')} AND Timestamp < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        GROUP BY name)
) AS callers
SELECT
    application, version, toDateTime(min(first), 'UTC') AS first_seen, toDateTime(max(last), 'UTC') AS last_seen,
    max(of_it) AS ran_it
FROM (
    SELECT
        toString(if(application = '', tags['service'], application)) AS application, tags['version'] AS version,
        min(event_time) AS first, max(event_time) AS last, max(query_id IN {query_ids:Array(UInt64)}) AS of_it
    FROM tailrace.query_events
    WHERE {to:DateTime('UTC')} - {from:DateTime('UTC')} <= 2 * 86400
        AND event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        AND (query_events.application = '' OR has(callers, toString(query_events.application)))
        AND tags['version'] != ''
    GROUP BY application, version
    UNION ALL
    SELECT
        toString(ServiceName) AS application, ResourceAttributes['service.version'] AS version,
        toDateTime64(min(Timestamp), 6, 'UTC') AS first, toDateTime64(max(Timestamp), 6, 'UTC') AS last,
        max(otel_traces.query_id IN {query_ids:Array(UInt64)}) AS of_it
    FROM tailrace.otel_traces
    WHERE has(callers, toString(ServiceName))
        AND Timestamp >= {from:DateTime('UTC')} AND Timestamp < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        AND ResourceAttributes['service.version'] != ''
    GROUP BY application, version)
WHERE has(callers, application)
GROUP BY application, version
ORDER BY first_seen, application, version
LIMIT 50
