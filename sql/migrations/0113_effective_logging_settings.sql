-- The settings of the slow query log of each server: a row per server and time interval with equal settings, from the
-- snapshots of capture (server_facts, kind `settings`). `since` is the first snapshot with these settings, so the change was
-- between the snapshot before and this one. The time before the first row is unknown. It replaces logging_in_force. It has
-- the privileges of its definer: developers may read these settings, but not the accounts beside them in server_facts.
CREATE VIEW IF NOT EXISTS tailrace.effective_logging_settings {on_cluster}
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
WITH
    coalesce(nullIf(settings['log_slow_query_time'], ''), settings['long_query_time']) AS seconds,
    coalesce(nullIf(settings['log_slow_query'], ''), settings['slow_query_log']) AS is_on,
    toUInt64OrZero(settings['log_slow_rate_limit']) AS rate,
    greatest(toUInt64OrZero(settings['min_examined_row_limit']),
        toUInt64OrZero(settings['log_slow_min_examined_row_limit'])) AS examined
SELECT
    cluster,
    instance,
    toDateTime(first_snapshot, 'UTC') AS since,
    toDateTime(leadInFrame(first_snapshot, 1, toDateTime64('2100-01-01 00:00:00', 3, 'UTC')) OVER history, 'UTC') AS until,
    settings,
    toFloat64OrNull(seconds) AS threshold,
    greatest(1, rate) AS sampled,
    if(lower(is_on) IN ('off', '0'), 'off', arrayStringConcat(arrayFilter(part -> part != '', [
        if(seconds = '', 'threshold unknown', concat('≥ ', toString(toFloat64OrZero(seconds)), ' s')),
        if(rate > 1, concat('1 ', if(settings['log_slow_rate_type'] = 'session', 'session', 'statement'), ' of ', toString(rate)), ''),
        if(examined > 0, concat('≥ ', toString(examined), ' rows examined'), ''),
        if(lower(settings['log_queries_not_using_indexes']) IN ('on', '1'), 'or without an index', '')]), ', ')) AS logged
FROM
(
    SELECT *, lagInFrame(toString(settings)) OVER (PARTITION BY instance ORDER BY first_snapshot
        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS settings_before
    FROM
    (
        SELECT
            cluster,
            instance,
            first_snapshot,
            CAST(arrayMap(fact -> (fact.1, fact.4),
                arrayFilter(fact -> fact.2 <= first_snapshot AND fact.3 >= first_snapshot, facts)), 'Map(String, String)') AS settings
        FROM
        (
            SELECT
                argMax(cluster, last_seen) AS cluster,
                instance,
                arraySort(groupArray((key, server_facts.since, last_seen, attributes['value']))) AS facts,
                arraySort(groupUniqArray(server_facts.since)) AS snapshots
            FROM tailrace.server_facts FINAL
            WHERE kind = 'settings' AND key IN (
                'long_query_time', 'log_slow_query_time', 'slow_query_log', 'log_slow_query', 'log_output',
                'log_slow_rate_limit', 'log_slow_rate_type', 'min_examined_row_limit', 'log_slow_min_examined_row_limit',
                'log_queries_not_using_indexes', 'log_throttle_queries_not_using_indexes', 'log_slow_filter',
                'log_slow_admin_statements', 'log_slow_slave_statements', 'log_slow_replica_statements',
                'log_slow_disabled_statements', 'slow_query_log_use_global_control', 'slow_query_log_always_write_time')
            GROUP BY instance
        )
        ARRAY JOIN snapshots AS first_snapshot
    )
)
WHERE settings_before != toString(settings)
WINDOW history AS (PARTITION BY instance ORDER BY first_snapshot ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
COMMENT 'Settings of the slow query log of each server, by time interval'
