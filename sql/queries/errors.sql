{%- include "parts/time_range.sql" -%}
{%- include "parts/links.sql" -%}
{%- include "parts/display_names.sql" -%}
-- Error log messages, one row each, with their kind. `notable` are messages that may need attention; the rest is
-- routine, and what MariaDB with log_warnings > 3 logs a second time for a deadlock or an aborted connection. All messages of kinds
-- that the filter *Kind* names are notable. `listed` adds changes of the state of replication, which show when an outage
-- ended. A restart is the first message of a server, a crash its last.
--
-- If a message names a connection, `link` links to the other statements of this connection, on this dashboard, around
-- that time.
{% set query -%}
WITH
    {{ shown_range(30) }},
    {{ bar_width() }}
SELECT
    {{ bar('event_time') }} AS time,
    toDateTime(event_time, 'UTC') AS at,
    cluster, instance,
    multiIf(
        kind = 'server_state' AND details['state'] = 'start', 'restart',
        kind = 'server_state' AND details['state'] = 'recovery', 'crash recovery',
        kind = 'server_state' AND details['state'] = 'shutdown', 'shutdown',
        kind = 'deadlock' AND message ILIKE '%aborted due to deadlock%', 'victim of a deadlock',
        kind = 'connection_aborted' AND message ILIKE 'Could not %packet%', 'packet not read',
        kind = 'connection_aborted', 'aborted connection',
        kind = 'other', concat('other, ', lower(level)),
        replaceAll(kind, '_', ' ')) AS what,
    level, code, message,
    {{ named('database') }}, {{ named('user') }},
    if(client_ip = '', client_host, client_ip) AS src_ip,
    toString(if(thread_id != 0, thread_id, toUInt64OrZero(details['connection']))) AS connection,
    if(connection = '0', '', connection) AS connection_id,
    {% if filter_values('what') %}true OR {% endif %}what NOT IN ('victim of a deadlock', 'packet not read') AND (kind NOT IN ('other', 'innodb_monitor', 'plugin_change', 'backup', 'replication_state', 'role_change', 'cluster_view',
            'cluster_state', 'ist', 'server_state')
        OR lower(level) IN ('error', 'warning') OR details['state'] IN ('start', 'recovery')) AS notable,
    notable OR kind = 'replication_state' AS listed,
    if(connection_id = '', '', {{ link_around('errors', 'at', 3600,
        [('instance', 'instance', 'instance'), ('connection_id', 'connection_id', 'connection_id')], "'connection'",
        tab='TAB-errors-one-connection') }}) AS link,
    if(details['query_id'] = '', '', {{ link_to_query("details['query_id']", "'statement'") }}) AS its_statement
FROM tailrace.error_events
WHERE event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC')
{%- endset -%}
{{ with_empty_buckets(query, 'at') }}
