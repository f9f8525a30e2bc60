-- Refused logins between two times, one row per attempt. `begin` is included, `until` is not. A refused login may be in the audit, the
-- general and the error log. The refusals of one account name on a server are grouped into series without a pause of more than two
-- seconds, the tolerance for the clocks of logs (docs/DETECTION.md). Of each series, the log with the most refusals counts, or the
-- audit log if several have the same number; `source_logs` names all of them. Dashboards and evidence read this view.
CREATE VIEW IF NOT EXISTS tailrace.refused_logins {on_cluster}
SQL SECURITY INVOKER AS
WITH
    logged_refusals AS (
        SELECT
            audit_events.event_time AS event_time, toString(source) AS log, cluster, instance,
            toString(audit_events.user) AS user, client_host, client_ip, toString(database) AS database,
            toString(program_name) AS program, connection_id, toString(connection_type) AS connection_type,
            toString(status) AS error, event_id
        FROM tailrace.audit_events
        WHERE audit_events.event_time >= { begin: DateTime64(6, 'UTC') } - INTERVAL 1 MINUTE
            AND audit_events.event_time < { until: DateTime64(6, 'UTC') } + INTERVAL 1 MINUTE
            AND event_class = 'connection' AND status != 0
            AND match(lower(command), '^(proxy_|failed_)?connect$|^change.?user$|^failed login$')
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
    separated AS (
        SELECT *,
            event_time > lagInFrame(event_time) OVER (
                PARTITION BY instance, lowerUTF8(user) ORDER BY event_time, event_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) + INTERVAL 2 SECOND AS begins
        FROM logged_refusals
    ),
    numbered AS (
        SELECT *,
            sum(begins) OVER (
                PARTITION BY instance, lowerUTF8(user) ORDER BY event_time, event_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS series
        FROM separated
    ),
    counted AS (
        SELECT *, count() OVER (PARTITION BY instance, lowerUTF8(user), series, log) AS log_refusals
        FROM numbered
    ),
    compared AS (
        SELECT *,
            argMin(log, (-toInt64(log_refusals), log)) OVER (PARTITION BY instance, lowerUTF8(user), series) AS counted_log,
            arraySort(groupUniqArray(log) OVER (PARTITION BY instance, lowerUTF8(user), series)) AS logs
        FROM counted
    )
SELECT
    * EXCEPT (begins, series, log_refusals, counted_log),
    coalesce(nullIf(client_ip, ''), nullIf(client_host, ''), '(unknown)') AS src_ip,
    arrayStringConcat(logs, ', ') AS source_logs
FROM compared
WHERE log = counted_log AND event_time >= { begin: DateTime64(6, 'UTC') } AND event_time < { until: DateTime64(6, 'UTC') }
