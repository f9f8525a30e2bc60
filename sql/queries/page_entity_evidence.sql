{%- set record_columns = ['event_time', 'event_id', 'instance', 'connection_id'] -%}
WITH
{%- include "parts/entity_records.sql" -%}
    ,
    evidence AS (
        SELECT event_id
        FROM (
            SELECT toUUIDOrZero(arrayJoin(event_ids)) AS event_id FROM tailrace.alerts FINAL
            WHERE alerts.event_time >= {from:DateTime64(6, 'UTC')} AND alerts.window_from < {to:DateTime64(6, 'UTC')})
        WHERE event_id != toUUIDOrZero(''))
-- Events that alerts of the range have as evidence, and that are records of the entity (is_its) or of a connection with a
-- record of it. At most 1,000, the latest first. A connection id starts again when its server restarts: a range of days
-- may join two sessions. Parameters: those of page_entity_timeline without begin and width.
SELECT toString(event_id) AS id, max(its) AS is_its
FROM (
    SELECT arrayJoin(events) AS event, event.1 AS event_id, event.2 AS event_time, has(its_events, event_id) AS its
    FROM (
        SELECT
            groupArrayIf((event_id, event_time), is_evidence) AS events,
            groupArrayIf(event_id, is_evidence AND is_its) AS its_events,
            instance, if(connection_id = 0, toString(event_id), '') AS alone
        FROM (
            SELECT records.event_time AS event_time, event_id, toString(instance) AS instance, connection_id, true AS is_its,
                event_id GLOBAL IN (SELECT event_id FROM evidence) AS is_evidence
            FROM records
            UNION ALL
            SELECT event_time, event_id, toString(instance), connection_id, false, true
            FROM tailrace.audit_events
            WHERE event_time >= {from:DateTime64(6, 'UTC')} AND event_time < {to:DateTime64(6, 'UTC')}
                AND connection_id != 0 AND event_id GLOBAL IN (SELECT event_id FROM evidence)
            UNION ALL
            SELECT event_time, event_id, toString(instance), connection_id, false, true
            FROM tailrace.query_events
            WHERE event_time >= {from:DateTime64(6, 'UTC')} AND event_time < {to:DateTime64(6, 'UTC')}
                AND connection_id != 0 AND event_id GLOBAL IN (SELECT event_id FROM evidence))
        GROUP BY instance, connection_id, alone
        HAVING max(is_its) AND notEmpty(events)))
GROUP BY event_id
ORDER BY max(event_time) DESC, id
LIMIT 1000
