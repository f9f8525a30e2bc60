-- Replaces 0214: `program` comes from a record that is a successful login by the columns of 0250. Before, any record of a connection
-- without an error counted. Actions are matched as before: 0214 explains how.
CREATE OR REPLACE VIEW tailrace.data_access_by_action {on_cluster}
SQL SECURITY INVOKER AS
WITH
    of_several_logs AS (
        -- Of a server with one log, the next pass reads nothing: `instance` is the first column of the key.
        SELECT instance
        FROM (
            SELECT DISTINCT instance, source
            FROM tailrace.data_access
            WHERE event_time >= { begin: DateTime64(6, 'UTC') } - INTERVAL 1 MINUTE
                AND event_time < { until: DateTime64(6, 'UTC') } + INTERVAL 1 MINUTE
        )
        GROUP BY instance
        HAVING count() > 1
    ),
    in_doubt AS (
        -- Logs that name the same actions of a statement have the same sum of hashes.
        SELECT any(data_access.instance) AS server, any(data_access.connection_id) AS connection
        FROM tailrace.data_access
        PREWHERE event_time >= { begin: DateTime64(6, 'UTC') } - INTERVAL 1 MINUTE
            AND event_time < { until: DateTime64(6, 'UTC') } + INTERVAL 1 MINUTE
            AND connection_id != 0 AND instance IN (SELECT instance FROM of_several_logs)
        WHERE query_id IS NOT NULL
        GROUP BY cityHash64(instance, connection_id, assumeNotNull(query_id))
        HAVING length(arrayDistinct(arrayFilter(total -> total != 0, [
            sum(if(source = 'audit', cityHash64(action_id), 0)), sum(if(source = 'slowlog', cityHash64(action_id), 0)),
            sum(if(source NOT IN ('audit', 'slowlog'), cityHash64(action_id), 0))]))) > 1
    ),
    of_one_log AS (
        SELECT cityHash64(instance, action_id) AS action, any(data_access.action_id) AS id, min(source) AS log,
            min(toUnixTimestamp64Micro(event_time)) AS micros,
            cityHash64(any(data_access.instance), max(connection_id), max(query_id)) AS series
        FROM tailrace.data_access FINAL
        -- Before FINAL: all versions of a row have the same time, server and connection.
        PREWHERE event_time >= { begin: DateTime64(6, 'UTC') } - INTERVAL 1 MINUTE
            AND event_time < { until: DateTime64(6, 'UTC') } + INTERVAL 1 MINUTE
            AND (instance, connection_id) IN (SELECT server, connection FROM in_doubt)
        GROUP BY action
        HAVING min(source) = max(source) AND max(connection_id) != 0 AND max(query_id) IS NOT NULL
    ),
    compared AS (
        SELECT *, min(log) OVER (PARTITION BY series) AS first_log, max(log) OVER (PARTITION BY series) AS last_log
        FROM of_one_log
    ),
    counted AS (
        -- Of the first log: actions that are too early for this one, and all that are not too late.
        SELECT *,
            toInt64(row_number() OVER (PARTITION BY series, log ORDER BY micros, id)) AS place,
            toInt64(countIf(log = first_log) OVER (
                PARTITION BY series ORDER BY micros RANGE BETWEEN UNBOUNDED PRECEDING AND 2000001 PRECEDING)) AS too_early,
            toInt64(countIf(log = first_log) OVER (
                PARTITION BY series ORDER BY micros RANGE BETWEEN UNBOUNDED PRECEDING AND 2000000 FOLLOWING)) AS in_reach
        FROM compared
        WHERE first_log != last_log
    ),
    placed AS (
        -- Each takes the first place that is neither too early nor taken by an earlier one of its log.
        SELECT *,
            if(log = first_log, place, place + max(too_early + 1 - place) OVER (
                PARTITION BY series, log ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS first_free
        FROM counted
    ),
    matched AS (
        SELECT arrayJoin(groupArray(action)) AS action, argMin(id, log) AS first_id, min(micros) AS first_micros
        FROM placed
        WHERE first_free <= in_reach
        GROUP BY series, first_free
        HAVING count() > 1
    ),
    logins AS (
        SELECT cityHash64(instance, connection_id) AS session, user, event_time AS login_time, program_name
        FROM tailrace.audit_events
        WHERE event_class = 'connection' AND program_name != '' AND login_result = 'success'
            AND event_time >= { begin: DateTime64(6, 'UTC') } - INTERVAL 1 DAY AND event_time < { until: DateTime64(6, 'UTC') }
            AND session IN (
                SELECT cityHash64(instance, connection_id) FROM tailrace.data_access
                WHERE event_time >= { begin: DateTime64(6, 'UTC') } - INTERVAL 1 MINUTE
                    AND event_time < { until: DateTime64(6, 'UTC') } + INTERVAL 1 MINUTE AND program = '' AND connection_id != 0)
    )
SELECT
    accesses.* EXCEPT (action, first_id, session) REPLACE (
        if(first_id = '', accesses.action_id, first_id) AS action_id,
        if(accesses.program = '' AND logins.user = accesses.user, toString(logins.program_name), toString(accesses.program)) AS program)
FROM (
    SELECT records.*, first_id
    FROM (
        SELECT *, cityHash64(instance, action_id) AS action, if(program = '', cityHash64(instance, connection_id), 0) AS session
        FROM tailrace.data_access FINAL
        WHERE event_time >= { begin: DateTime64(6, 'UTC') } - INTERVAL 1 MINUTE
            AND event_time < { until: DateTime64(6, 'UTC') } + INTERVAL 1 MINUTE
    ) AS records
    ANY LEFT JOIN matched ON matched.action = records.action
    WHERE if(first_micros = 0, toUnixTimestamp64Micro(event_time), first_micros) >= toUnixTimestamp64Micro({ begin: DateTime64(6, 'UTC') })
        AND if(first_micros = 0, toUnixTimestamp64Micro(event_time), first_micros) < toUnixTimestamp64Micro({ until: DateTime64(6, 'UTC') })
) AS accesses
ASOF LEFT JOIN logins ON logins.session = accesses.session AND logins.login_time <= accesses.event_time
