-- Fills entities_1d from slow logs. Groups a block by what it stores first, so that names are computed for groups and not for rows.
-- An entry without an error has the code 0.
CREATE MATERIALIZED VIEW IF NOT EXISTS tailrace.entities_1d_query_events_mv {on_cluster}
TO tailrace.entities_1d
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    'query_events' AS event_table,
    multiIf(by_user, 'user', by_client, 'client', by_tables, 'table', 'log') AS entity_kind,
    arrayJoin(multiIf(
        by_user, [toString(user)],
        by_client, [if(toIPv6OrDefault(client) = toIPv6('::'), client,
            replaceRegexpOne(toString(toIPv6OrDefault(client)), '^::ffff:([0-9.]+)$', '\\1'))],
        by_tables, arrayMap(each -> toString(each), arrayDistinct(arrayConcat(tables_read, tables_written))),
        [''])) AS name,
    cluster, instance, database, source, error_code, day,
    sum(entries) AS count,
    sum(executions) AS weight,
    sum(if(by_tables AND has(tables_read, name), executions, 0)) AS reads,
    sum(if(by_tables AND has(tables_written, name), executions, 0)) AS changes,
    max(latest) AS last_time
FROM (
    SELECT
        user, if(ip = '', toString(host), toString(ip)) AS client, tables_read, tables_written,
        cluster, instance, database, source, ifNull(query_events.error_code, 0) AS error_code,
        toStartOfDay(toDateTime(event_time, 'UTC')) AS day,
        grouping(user) = 0 AS by_user, grouping(ip) = 0 AS by_client, grouping(tables_read) = 0 AS by_tables,
        count() AS entries, sum(query_events.weight) AS executions, max(event_time) AS latest
    FROM tailrace.query_events
    WHERE event_id NOT IN (SELECT event_id FROM tailrace.counted_events WHERE view = 'entities_1d_query_events_mv')
    GROUP BY GROUPING SETS (
        (user, cluster, instance, database, source, error_code, day),
        (ip, host, cluster, instance, database, source, error_code, day),
        (tables_read, tables_written, cluster, instance, database, source, error_code, day),
        (cluster, instance, database, source, error_code, day))
)
GROUP BY event_table, entity_kind, name, cluster, instance, database, source, error_code, day
