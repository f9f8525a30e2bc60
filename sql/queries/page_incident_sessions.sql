{%- set its -%}
    has({servers:Array(String)}, toString(instance)) AND has({users:Array(String)}, toString(user))
        AND event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        AND has(arrayZip({servers:Array(String)}, {connections:Array(UInt64)}), (toString(instance), connection_id))
{%- endset -%}
-- What sessions did: the number of their statements in the log that has most of them, and the rows sent by the `timed` statements
-- that are in a slow query log. Parameters: servers and connections (the first of one belongs to the first of the other), users, from, to.
SELECT instance, connection_id, greatest(max(statements), max(timed_of_log)) AS statements, sum(timed_of_log) AS timed, sum(sent) AS rows_sent
FROM (
    SELECT toString(instance) AS instance, connection_id, count() AS statements, 0 AS timed_of_log, 0 AS sent
    FROM tailrace.audit_events
    WHERE event_class = 'query' AND event_name IN ('', 'status') AND {{ its }}
    GROUP BY instance, connection_id, source
    UNION ALL
    SELECT toString(instance) AS instance, connection_id, 0, count(), sum(query_events.rows_sent)
    FROM tailrace.query_events
    WHERE {{ its }}
    GROUP BY instance, connection_id)
GROUP BY instance, connection_id
ORDER BY instance, connection_id
