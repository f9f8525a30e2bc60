-- Fills entities_1d from error logs, as entities_1d_query_events_mv does. `command` is the kind of message; a message names no table.
CREATE MATERIALIZED VIEW IF NOT EXISTS tailrace.entities_1d_error_events_mv {on_cluster}
TO tailrace.entities_1d
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    'error_events' AS event_table,
    multiIf(by_user, 'user', by_client, 'client', 'log') AS entity_kind,
    multiIf(
        by_user, toString(user),
        NOT by_client, '',
        toIPv6OrDefault(client) = toIPv6('::'), client,
        replaceRegexpOne(toString(toIPv6OrDefault(client)), '^::ffff:([0-9.]+)$', '\\1')) AS name,
    cluster, instance, database, source, command, day,
    sum(messages) AS count,
    toFloat64(sum(messages)) AS weight,
    max(latest) AS last_time
FROM (
    SELECT
        user, if(ip = '', toString(host), toString(ip)) AS client,
        cluster, instance, database, source, kind AS command,
        toStartOfDay(toDateTime(event_time, 'UTC')) AS day,
        grouping(user) = 0 AS by_user, grouping(ip) = 0 AS by_client,
        count() AS messages, max(event_time) AS latest
    FROM tailrace.error_events
    WHERE event_id NOT IN (SELECT event_id FROM tailrace.counted_events WHERE view = 'entities_1d_error_events_mv')
    GROUP BY GROUPING SETS (
        (user, cluster, instance, database, source, command, day),
        (ip, host, cluster, instance, database, source, command, day),
        (cluster, instance, database, source, command, day))
)
GROUP BY event_table, entity_kind, name, cluster, instance, database, source, command, day
