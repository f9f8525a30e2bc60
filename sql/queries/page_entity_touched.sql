-- The data classes of records. Parameters: from, to; ids (event ids).
SELECT toString(event_id) AS id, arrayMap(each -> toString(each), data_class) AS classes, has(basis, 'unknown') AS is_unknown
FROM tailrace.data_access FINAL
WHERE data_access.event_time >= {from:DateTime64(6, 'UTC')} AND data_access.event_time < {to:DateTime64(6, 'UTC')}
    AND event_id IN (SELECT arrayJoin({ids:Array(UUID)}))
