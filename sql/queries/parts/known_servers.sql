{#- The servers that evidence_servers.sql lists, each with the times since when and until when it is known, for a WITH:
    `known_servers`. A server of a list of logs without a time is known since ever. `known_until` is NULL while a host lists a log of
    it, or if none ever did. After each host has removed all of its logs, it is the last time of which anything is known. #}
    known_times AS (
        SELECT instance, toDateTime(first_at, 'UTC') AS known_at, toDateTime(last_at, 'UTC') AS seen_at
        FROM (
            -- Answered by a projection of the ledger.
            SELECT instance, source, kind, min(at) AS first_at, max(at) AS last_at FROM tailrace.ledger
            WHERE kind IN ('CENSUS', 'FRONTIER')
            GROUP BY instance, source, kind)
        UNION ALL
        SELECT instance, toDateTime(min(at), 'UTC'), toDateTime(max(at), 'UTC') FROM tailrace.server_snapshots GROUP BY instance
        UNION ALL
        SELECT instance, ifNull(toDateTime(min(listed_logs.listed_since), 'UTC'), toDateTime(0, 'UTC')), toDateTime(0, 'UTC')
        FROM tailrace.listed_logs_of_period(
            period_from = {from:DateTime('UTC')}, period_to = {to:DateTime('UTC')}) AS listed_logs
        GROUP BY instance
        UNION ALL
        SELECT instance, toDateTime(min(record_day), 'UTC'), toDateTime(max(record_day), 'UTC') FROM tailrace.log_days GROUP BY instance
    ),
    removed_servers AS (
        SELECT instance, toDateTime(max(last_at), 'UTC') AS removed_at
        FROM (
            SELECT instance, argMax(action, at) AS last_action, max(at) AS last_at FROM tailrace.listed_logs
            WHERE at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
            GROUP BY instance, source, log, host)
        GROUP BY instance
        HAVING countIf(last_action = 'listed') = 0
    ),
    known_servers AS (
        SELECT known_times.instance AS instance, min(known_at) AS known_since,
            if(any(removed_servers.instance) = '', NULL, greatest(max(seen_at), any(removed_at))) AS known_until
        FROM known_times
        LEFT JOIN removed_servers ON removed_servers.instance = known_times.instance
        WHERE known_at < {to:DateTime('UTC')}
        GROUP BY instance
        HAVING isNull(known_until) OR known_until >= {from:DateTime('UTC')}
    )
