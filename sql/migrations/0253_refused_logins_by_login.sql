-- Replaces 0216: a record of an audit or general log is a refused login by the columns of 0250. A second record of the same login in a
-- filter log does not count, MariaDB's PROXY_CONNECT is no login, and FAILED_CONNECT without a status has failed. The rest is as before:
-- of each series of refusals without a pause of two seconds, the log with the most counts.
CREATE OR REPLACE VIEW tailrace.refused_logins {on_cluster}
SQL SECURITY INVOKER AS
WITH
    logged_refusals AS (
        SELECT
            audit_events.event_time AS event_time, toString(source) AS log, cluster, instance,
            toString(audit_events.user) AS user, client_host, client_ip, toString(database) AS database,
            toString(program_name) AS program, connection_id, toString(connection_type) AS connection_type,
            if(status = 0, '', toString(status)) AS error, event_id
        FROM tailrace.audit_events
        WHERE audit_events.event_time >= { begin: DateTime64(6, 'UTC') } - INTERVAL 1 MINUTE
            AND audit_events.event_time < { until: DateTime64(6, 'UTC') } + INTERVAL 1 MINUTE
            AND event_class = 'connection' AND login_result = 'failure'
        UNION ALL
        SELECT
            error_events.event_time, 'error log', cluster, instance,
            toString(error_events.user), client_host, client_ip, toString(database), '', thread_id, '',
            if(code = '', '1045', toString(code)), event_id
        FROM tailrace.error_events
        WHERE error_events.event_time >= { begin: DateTime64(6, 'UTC') } - INTERVAL 1 MINUTE
            AND error_events.event_time < { until: DateTime64(6, 'UTC') } + INTERVAL 1 MINUTE
            AND kind = 'access_denied'
    ),
    attempts AS (
        SELECT instance, lowerUTF8(user) AS account, event_time, log FROM logged_refusals
    ),
    begun AS (
        SELECT instance, account, event_time AS begin_time
        FROM (
            SELECT instance, account, event_time,
                event_time > lagInFrame(event_time) OVER (
                    PARTITION BY instance, account ORDER BY event_time ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
                    + INTERVAL 2 SECOND AS begins
            FROM attempts)
        WHERE begins
    ),
    series AS (
        -- Joins by time instead of window functions over a series: guessing may go on for days.
        SELECT instance, account, begin_time, argMin(log, (-toInt64(refusals), log)) AS counted_log,
            arraySort(groupUniqArray(log)) AS logs
        FROM (
            SELECT attempts.instance AS instance, attempts.account AS account, begin_time, log, count() AS refusals
            FROM attempts ASOF INNER JOIN begun
                ON begun.instance = attempts.instance AND begun.account = attempts.account AND begun.begin_time <= attempts.event_time
            GROUP BY instance, account, begin_time, log)
        GROUP BY instance, account, begin_time
    )
SELECT
    refusals.* EXCEPT account, logs,
    coalesce(nullIf(client_ip, ''), nullIf(client_host, ''), '(unknown)') AS src_ip,
    arrayStringConcat(logs, ', ') AS source_logs
FROM (
    SELECT *, lowerUTF8(user) AS account FROM logged_refusals
    WHERE event_time >= { begin: DateTime64(6, 'UTC') } AND event_time < { until: DateTime64(6, 'UTC') }
) AS refusals
ASOF INNER JOIN series
    ON series.instance = refusals.instance AND series.account = refusals.account AND series.begin_time <= refusals.event_time
WHERE log = counted_log
