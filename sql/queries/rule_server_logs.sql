{%- include "parts/time_range.sql" -%}
-- Log sources by server, log and event class: rules for an event class that the logs of a server do not contain cannot
-- fire there. Watched servers without events in the range have no row here; the dashboard Ledger shows them.
WITH
    {{ shown_range(30) }}
SELECT
    toDateTime(classes.last_seen, 'UTC') AS event_time,
    cluster, instance, log, event_class,
    multiIf(
        event_class = 'connection', 'logins: guessing, first logins, logins from outside',
        event_class = 'query' AND log = 'slowlog', 'statements that are slow enough, rows sent: injection, bulk reads',
        event_class = 'query', 'every statement: rights, accounts, definitions, files, data classes',
        event_class = 'table', 'tables as the server names them: data classes by the log',
        event_class = 'message', 'refused logins, crashes, plugins, replication',
        event_class = 'server', 'starts and ends of the audit log',
        event_class = 'admin', 'administrative commands',
        '') AS serves,
    record_count
FROM (
    SELECT cluster, instance, toString(source) AS log, toString(event_class) AS event_class,
        count() AS record_count, max(audit_events.event_time) AS last_seen
    FROM tailrace.audit_events
    WHERE audit_events.event_time >= range_start AND audit_events.event_time < toDateTime64(range_end, 6, 'UTC')
    GROUP BY cluster, instance, log, event_class
    UNION ALL
    SELECT cluster, instance, 'slowlog', 'query', count(), max(query_events.event_time)
    FROM tailrace.query_events
    WHERE query_events.event_time >= range_start AND query_events.event_time < toDateTime64(range_end, 6, 'UTC')
    GROUP BY cluster, instance
    UNION ALL
    SELECT cluster, instance, 'errorlog', 'message', count(), max(error_events.event_time)
    FROM tailrace.error_events
    WHERE error_events.event_time >= range_start AND error_events.event_time < toDateTime64(range_end, 6, 'UTC')
    GROUP BY cluster, instance
) AS classes
