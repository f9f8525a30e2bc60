{#- Waits for metadata locks, for a WITH that has `range_start` and `range_end`: one row for each command of a session that
    waited, and each session that had a lock of the same object. Capture polls once a minute: successive polls are one row. -#}
    polled AS (
        SELECT *, toUnixTimestamp64Milli(at) - 1000 * waiting_seconds AS began_ms,
            -- PROCESSLIST_TIME has whole seconds: a command that began two seconds later is another one.
            if(began_ms > lagInFrame(began_ms, 1, 0) OVER earlier + 2000, 1, 0) AS is_other
        FROM tailrace.metadata_lock_waits FINAL
        WHERE at >= range_start AND at < toDateTime64(range_end, 6, 'UTC')
        WINDOW earlier AS (
            PARTITION BY instance, object_type, database, object_name, waiting_connection, holding_connection, holding_lock
            ORDER BY at ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
    ),
    numbered AS (
        SELECT *, sum(is_other) OVER (
            PARTITION BY instance, object_type, database, object_name, waiting_connection, holding_connection, holding_lock
            ORDER BY at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS wait_number
        FROM polled
    ),
    waits AS (
        SELECT
            argMax(cluster, at) AS cluster, instance, object_type, database, object_name,
            waiting_connection, argMax(waiting_user, at) AS waiting_user, argMax(waiting_host, at) AS waiting_host,
            argMax(waiting_lock, at) AS waiting_lock, max(waiting_seconds) AS waited_seconds,
            holding_connection, argMax(holding_user, at) AS holding_user, argMax(holding_host, at) AS holding_host,
            holding_lock, argMax(holding_command, at) AS holding_command, argMax(holding_seconds, at) AS held_seconds,
            toDateTime(min(began_ms) / 1000, 'UTC') AS began, toDateTime(max(at), 'UTC') AS last_at, count() AS polls
        FROM numbered
        GROUP BY instance, object_type, database, object_name, waiting_connection, holding_connection, holding_lock, wait_number
    )
