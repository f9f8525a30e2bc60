-- What a server counted for each digest since its sample before (`since`), by the minute of the sample. Counters that begin
-- anew (restart, TRUNCATE) have another first_seen and count from 0. A digest whose first sample is also the server's
-- first one has no row: what it counted before is of unknown time. Digest `other`: statements without room in the table.
-- MySQL 5.7 and MariaDB round first_seen to seconds.
CREATE OR REPLACE VIEW tailrace.digest_load_1m {on_cluster}
SQL SECURITY INVOKER AS
SELECT
    cluster,
    instance,
    toStartOfMinute(at) AS minute,
    since,
    at,
    database,
    digest,
    digest_text,
    query_id,
    is_reset,
    delta[1] AS statements,
    delta[2] / 1e12 AS seconds,
    delta[3] / 1e12 AS lock_seconds,
    delta[4] AS errors,
    delta[5] AS warnings,
    delta[6] AS rows_affected,
    delta[7] AS rows_sent,
    delta[8] AS rows_examined,
    delta[9] AS tmp_tables,
    delta[10] AS tmp_disk_tables,
    delta[11] AS sort_rows,
    delta[12] AS no_index_used
FROM
(
    SELECT
        *,
        if(before_at > 0, before_at, began) AS since,
        before_at > 0 AND (first_seen != before_first_seen OR counters[1] < before[1]) AS is_reset,
        if(
            before_at = 0 OR is_reset,
            counters,
            arrayMap((now, then) -> toUInt64(now - then), counters, arrayResize(before, length(counters)))
        ) AS delta
    FROM
    (
        SELECT
            cluster, instance, database, digest, at, first_seen, digest_text, query_id,
            [statements, timer_ps, lock_ps, errors, warnings, rows_affected, rows_sent, rows_examined, tmp_tables, tmp_disk_tables, sort_rows, no_index_used] AS counters,
            lagInFrame(counters) OVER earlier AS before,
            lagInFrame(at) OVER earlier AS before_at,
            lagInFrame(first_seen) OVER earlier AS before_first_seen,
            min(at) OVER (PARTITION BY instance) AS began
        FROM tailrace.digest_samples FINAL
        WINDOW earlier AS (
            PARTITION BY instance, database, digest ORDER BY at ROWS BETWEEN 1 PRECEDING AND CURRENT ROW
        )
    )
)
WHERE (before_at > 0 OR (at > began AND first_seen >= began - INTERVAL 1 SECOND)) AND delta[1] > 0
