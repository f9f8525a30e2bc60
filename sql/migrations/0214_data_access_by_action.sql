-- The rows of data_access between two times, with one `action_id`, outcome and program for each action, whichever logs record it
-- and whenever they arrive: logs of the past arrive one after the other, and the job remembers actions for 15 minutes of event
-- time only. All queries about accesses read this view. `begin` is included, `until` is not; an action belongs to the time of
-- its first record.
--
-- An action of one log is matched with the first free action of the first log (audit, general, slowlog) that has the same server,
-- connection and statement and differs by at most two seconds. Without such an action it stays an action of its own. `program`
-- comes from the login of the connection, at most a day before `begin`. `outcome` is the one that some log knows.
CREATE VIEW IF NOT EXISTS tailrace.data_access_by_action {on_cluster}
SQL SECURITY INVOKER AS
WITH
    logged AS (
        SELECT instance, action_id,
            min(toUnixTimestamp64Micro(event_time)) AS first_micros,
            min(source) AS log,
            if(uniqExact(source) = 1 AND max(connection_id) != 0 AND max(query_id) IS NOT NULL,
                cityHash64(instance, max(connection_id), max(query_id)), 0) AS series,
            max(outcome = 'failure') AS has_failed, max(outcome = 'success') AS has_succeeded
        FROM tailrace.data_access FINAL
        WHERE event_time >= { begin: DateTime64(6, 'UTC') } - INTERVAL 1 MINUTE
            AND event_time < { until: DateTime64(6, 'UTC') } + INTERVAL 1 MINUTE
        GROUP BY instance, action_id
    ),
    compared AS (
        SELECT *, series = 0 OR log = min(log) OVER (PARTITION BY series) AS is_of_first_log
        FROM logged
    ),
    counted AS (
        -- Of the first log: actions that are too early for this one, and all that are not too late.
        SELECT *,
            toInt64(row_number() OVER (PARTITION BY series, log ORDER BY first_micros, action_id)) AS place,
            toInt64(countIf(is_of_first_log) OVER (
                PARTITION BY series ORDER BY first_micros RANGE BETWEEN UNBOUNDED PRECEDING AND 2000001 PRECEDING)) AS too_early,
            toInt64(countIf(is_of_first_log) OVER (
                PARTITION BY series ORDER BY first_micros RANGE BETWEEN UNBOUNDED PRECEDING AND 2000000 FOLLOWING)) AS in_reach
        FROM compared
    ),
    placed AS (
        -- Each takes the first place that is neither too early nor taken by an earlier one of its log.
        SELECT *,
            if(is_of_first_log, place, place + max(too_early + 1 - place) OVER (
                PARTITION BY series, log ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS first_free
        FROM counted
    ),
    matched AS (
        SELECT instance, action_id AS id_of_job, first_micros,
            if(first_free > in_reach OR series = 0, 0, first_free) AS slot,
            first_value(action_id) OVER matching AS id_of_all,
            min(first_micros) OVER matching AS begun,
            max(has_failed) OVER matching AS failed,
            max(has_succeeded) OVER matching AS succeeded
        FROM placed
        WINDOW matching AS (
            PARTITION BY instance, series, slot, if(slot = 0, id_of_job, '')
            ORDER BY is_of_first_log DESC, first_micros ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
    ),
    logins AS (
        SELECT instance, connection_id, user, event_time AS login_time, program_name
        FROM tailrace.audit_events
        WHERE event_class = 'connection' AND program_name != '' AND status = 0
            AND event_time >= { begin: DateTime64(6, 'UTC') } - INTERVAL 1 DAY AND event_time < { until: DateTime64(6, 'UTC') }
            AND (instance, connection_id) IN (
                SELECT instance, connection_id FROM tailrace.data_access
                WHERE event_time >= { begin: DateTime64(6, 'UTC') } - INTERVAL 1 MINUTE
                    AND event_time < { until: DateTime64(6, 'UTC') } + INTERVAL 1 MINUTE AND program = '' AND connection_id != 0)
    )
SELECT
    accesses.* EXCEPT (id_of_all, failed, succeeded) REPLACE (
        id_of_all AS action_id,
        if(accesses.program = '' AND logins.user = accesses.user, toString(logins.program_name), toString(accesses.program)) AS program,
        multiIf(failed, 'failure', succeeded, 'success', toString(accesses.outcome)) AS outcome)
FROM (
    SELECT data_access.*, id_of_all, failed, succeeded
    FROM tailrace.data_access FINAL
    INNER JOIN matched ON matched.instance = data_access.instance AND matched.id_of_job = data_access.action_id
    WHERE event_time >= { begin: DateTime64(6, 'UTC') } - INTERVAL 1 MINUTE
        AND event_time < { until: DateTime64(6, 'UTC') } + INTERVAL 1 MINUTE
        AND begun >= toUnixTimestamp64Micro({ begin: DateTime64(6, 'UTC') })
        AND begun < toUnixTimestamp64Micro({ until: DateTime64(6, 'UTC') })
) AS accesses
ASOF LEFT JOIN logins ON logins.instance = accesses.instance AND logins.connection_id = accesses.connection_id
    AND logins.login_time <= accesses.event_time
