{%- include "parts/time_range.sql" -%}
-- Each server whose snapshots are taken, with its polls of metadata locks in the time range: whether its waits are known, and
-- what to change if not. A poll that failed states the message of the server.
WITH
    {{ shown_range(1) }}
SELECT
    {{ end_of_range() }} AS as_of,
    argMax(cluster, server_snapshots.at) AS cluster, instance,
    uniqExactIf(at, kind = 'metadata_locks' AND status = 'ok') AS polls_read,
    uniqExactIf(at, kind = 'metadata_locks' AND status != 'ok') AS polls_failed,
    maxIf(toDateTime(at, 'UTC'), kind = 'metadata_locks') AS polled_at,
    argMaxIf((status, error), server_snapshots.at, kind = 'metadata_locks') AS last_poll,
    multiIf(
        polls_read + polls_failed = 0, 'not read',
        last_poll.1 = 'ok' AND polls_failed = 0, 'read',
        last_poll.1 = 'ok', 'read in part',
        concat('not read: ', last_poll.1)) AS state,
    multiIf(
        state = 'not read', 'metadata_locks: true in the entry `source: server` of sources.yaml',
        last_poll.1 = 'denied',
        concat('GRANT SELECT ON performance_schema.metadata_locks, .threads and .setup_instruments (', last_poll.2, ')'),
        last_poll.2) AS to_change,
    if(polls_read + polls_failed = 0, NULL, polled_at) AS last_polled
FROM tailrace.server_snapshots FINAL
WHERE at >= range_start AND at < toDateTime64(range_end, 6, 'UTC')
    AND kind NOT IN ('errant', 'explain')
GROUP BY instance
