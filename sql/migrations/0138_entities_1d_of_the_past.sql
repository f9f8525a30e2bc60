-- Fills entities_1d for the events before it existed, as its views do. Nothing writes while views are added. A table
-- with rows stays as it is, so that a second run adds nothing.
INSERT INTO tailrace.entities_1d
    (event_table, entity_kind, name, cluster, instance, database, source, event_class, command, event_name, error_code, day,
    count, weight, reads, changes, last_time)
SELECT *
FROM (
    SELECT
        'query_events' AS event_table,
        multiIf(by_user, 'user', by_client, 'client', by_tables, 'table', 'log') AS entity_kind,
        arrayJoin(multiIf(
            by_user, [toString(user)],
            by_client, [if(toIPv6OrDefault(client) = toIPv6('::'), client,
                replaceRegexpOne(toString(toIPv6OrDefault(client)), '^::ffff:([0-9.]+)$', '\\1'))],
            by_tables, arrayMap(each -> toString(each), arrayDistinct(arrayConcat(tables_read, tables_written))),
            [''])) AS name,
        cluster, instance, database, source, '' AS event_class, '' AS command, '' AS event_name, error_code, day,
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
        GROUP BY GROUPING SETS (
            (user, cluster, instance, database, source, error_code, day),
            (ip, host, cluster, instance, database, source, error_code, day),
            (tables_read, tables_written, cluster, instance, database, source, error_code, day),
            (cluster, instance, database, source, error_code, day))
    )
    GROUP BY event_table, entity_kind, name, cluster, instance, database, source, error_code, day
    UNION ALL
    SELECT
        'audit_events' AS event_table,
        multiIf(by_user, 'user', by_client, 'client', by_tables, 'table', 'log') AS entity_kind,
        arrayJoin(multiIf(
            by_user, [toString(user)],
            by_client, [if(toIPv6OrDefault(client) = toIPv6('::'), client,
                replaceRegexpOne(toString(toIPv6OrDefault(client)), '^::ffff:([0-9.]+)$', '\\1'))],
            by_tables, arrayMap(each -> toString(each), arrayDistinct(arrayConcat(tables_read, tables_written))),
            [''])) AS name,
        cluster, instance, database, source, event_class, command, event_name, error_code, day,
        sum(entries) AS count,
        sum(executions) AS weight,
        sum(if(by_tables AND has(tables_read, name), executions, 0)) AS reads,
        sum(if(by_tables AND has(tables_written, name), executions, 0)) AS changes,
        max(latest) AS last_time
    FROM (
        SELECT
            user, if(ip = '', toString(host), toString(ip)) AS client, tables_read, tables_written,
            cluster, instance, database, source, event_class, command, event_name, status AS error_code,
            toStartOfDay(toDateTime(event_time, 'UTC')) AS day,
            grouping(user) = 0 AS by_user, grouping(ip) = 0 AS by_client, grouping(tables_read) = 0 AS by_tables,
            count() AS entries, toFloat64(count()) AS executions, max(event_time) AS latest
        FROM tailrace.audit_events
        GROUP BY GROUPING SETS (
            (user, cluster, instance, database, source, event_class, command, event_name, error_code, day),
            (ip, host, cluster, instance, database, source, event_class, command, event_name, error_code, day),
            (tables_read, tables_written, cluster, instance, database, source, event_class, command, event_name, error_code, day),
            (cluster, instance, database, source, event_class, command, event_name, error_code, day))
    )
    GROUP BY event_table, entity_kind, name, cluster, instance, database, source, event_class, command, event_name, error_code, day
    UNION ALL
    SELECT
        'error_events' AS event_table,
        multiIf(by_user, 'user', by_client, 'client', 'log') AS entity_kind,
        multiIf(
            by_user, toString(user),
            NOT by_client, '',
            toIPv6OrDefault(client) = toIPv6('::'), client,
            replaceRegexpOne(toString(toIPv6OrDefault(client)), '^::ffff:([0-9.]+)$', '\\1')) AS name,
        cluster, instance, database, source, '' AS event_class, command, '' AS event_name, 0 AS error_code, day,
        sum(messages) AS count,
        toFloat64(sum(messages)) AS weight,
        0. AS reads,
        0. AS changes,
        max(latest) AS last_time
    FROM (
        SELECT
            user, if(ip = '', toString(host), toString(ip)) AS client,
            cluster, instance, database, source, kind AS command,
            toStartOfDay(toDateTime(event_time, 'UTC')) AS day,
            grouping(user) = 0 AS by_user, grouping(ip) = 0 AS by_client,
            count() AS messages, max(event_time) AS latest
        FROM tailrace.error_events
        GROUP BY GROUPING SETS (
            (user, cluster, instance, database, source, command, day),
            (ip, host, cluster, instance, database, source, command, day),
            (cluster, instance, database, source, command, day))
    )
    GROUP BY event_table, entity_kind, name, cluster, instance, database, source, command, day
)
WHERE (SELECT count() FROM tailrace.entities_1d) = 0
