{#- The servers that evidence_servers.sql lists, each with the time since when it is known, for a WITH: `known_servers`.
    A server of a list of logs without a time is known since ever. #}
    known_servers AS (
        SELECT instance, min(known_at) AS known_since
        FROM (
            SELECT instance, toDateTime(first_at, 'UTC') AS known_at
            FROM (
                -- Answered by a projection of the ledger.
                SELECT instance, source, kind, min(at) AS first_at FROM tailrace.ledger
                WHERE kind IN ('CENSUS', 'FRONTIER')
                GROUP BY instance, source, kind)
            UNION ALL
            SELECT instance, toDateTime(min(at), 'UTC') FROM tailrace.server_snapshots GROUP BY instance
            UNION ALL
            SELECT instance, ifNull(toDateTime(min(listed_logs.listed_since), 'UTC'), toDateTime(0, 'UTC'))
            FROM tailrace.listed_logs_of_period(
                period_from = {from:DateTime('UTC')}, period_to = {to:DateTime('UTC')}) AS listed_logs
            GROUP BY instance
            UNION ALL
            SELECT instance, toDateTime(min(record_day), 'UTC') FROM tailrace.log_days GROUP BY instance)
        WHERE known_at < {to:DateTime('UTC')}
        GROUP BY instance
    )
