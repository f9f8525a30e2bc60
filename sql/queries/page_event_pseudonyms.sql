-- The pseudonyms of users and clients (docs/ERASURE.md) in events that alerts name, with the number of these events: alerts have the
-- names. Of an installation without pseudonyms only entities_1d is read. At most 5 of each kind.
-- Parameters: event_ids, from, to; instance, empty: all.
SELECT subject.1 AS kind, subject.2 AS pseudonym, uniqExact(event_id) AS events
FROM (
    SELECT event_id, arrayJoin([('user', toString(user)), ('client', if(ip = '', toString(host), toString(ip)))]) AS subject
    FROM (
        SELECT event_id, user, host, ip FROM tailrace.audit_events
        WHERE event_time >= {from:DateTime64(6, 'UTC')} AND event_time < {to:DateTime64(6, 'UTC')}
            AND ({instance:String} = '' OR instance = {instance:String})
            AND (SELECT count() FROM (SELECT 1 FROM tailrace.entities_1d WHERE startsWith(name, 'p1-') LIMIT 1)) > 0
            AND event_id GLOBAL IN (SELECT toUUIDOrZero(arrayJoin({event_ids:Array(String)})))
        UNION ALL
        SELECT event_id, user, host, ip FROM tailrace.query_events
        WHERE event_time >= {from:DateTime64(6, 'UTC')} AND event_time < {to:DateTime64(6, 'UTC')}
            AND ({instance:String} = '' OR instance = {instance:String})
            AND (SELECT count() FROM (SELECT 1 FROM tailrace.entities_1d WHERE startsWith(name, 'p1-') LIMIT 1)) > 0
            AND event_id GLOBAL IN (SELECT toUUIDOrZero(arrayJoin({event_ids:Array(String)}))))
)
WHERE match(pseudonym, concat('^p1-', kind, '-[0-9a-f]{32}$'))
GROUP BY subject
ORDER BY kind DESC, events DESC, pseudonym
LIMIT 5 BY kind
