-- Users, clients, tables and data classes whose name contains a text, ignoring case, with the number of records and the time
-- of the latest one. Days count as whole, because entities_1d has the users, clients and tables of each day. The exact name comes
-- first, then the latest ones; without a text, those with the most records. At most 50 of each kind.
-- Parameters: text, from, to, cluster, instance; classes_from, from which data classes are searched.
SELECT entity_kind, name, sum(record_count) AS records, max(last_record) AS last_seen, count() OVER (PARTITION BY entity_kind) AS found
FROM (
    SELECT toString(entity_kind) AS entity_kind, name, sum(entities_1d.count) AS record_count, max(last_time) AS last_record
    FROM tailrace.entities_1d
    WHERE entities_1d.entity_kind != 'log'
        AND toDate(day) >= toDate({from:DateTime64(6, 'UTC')}) AND toDate(day) <= toDate({to:DateTime64(6, 'UTC')} - INTERVAL 1 MICROSECOND)
        AND ({cluster:String} = '' OR cluster = {cluster:String}) AND ({instance:String} = '' OR instance = {instance:String})
    GROUP BY entity_kind, name
    UNION ALL
    SELECT 'class', toString(arrayJoin(data_class)), records, latest
    FROM (
        SELECT data_class, count() AS records, max(event_time) AS latest
        FROM tailrace.data_access FINAL
        WHERE event_time >= {classes_from:DateTime64(6, 'UTC')} AND event_time < {to:DateTime64(6, 'UTC')}
            AND ({cluster:String} = '' OR cluster = {cluster:String}) AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY data_class))
WHERE name != '' AND positionCaseInsensitiveUTF8(name, {text:String}) > 0
GROUP BY entity_kind, name
ORDER BY entity_kind, name = {text:String} DESC, if({text:String} = '', toFloat64(records), toFloat64(last_seen)) DESC, name
LIMIT 50 BY entity_kind
