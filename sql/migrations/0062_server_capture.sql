-- Whether each server is still asked what it says of itself, and what it refuses: `ok`, `partial` (some kinds are not
-- seen), `silent` (nobody has looked of late: the collector is dead, or does not reach Kafka), or what the last look at
-- the server came to (denied, gone, timeout, absent, failed). A server that lets itself be asked is heard of at every
-- poll, one that does not hourly. `explain` is how the last round of EXPLAIN ended, empty for none.
CREATE VIEW IF NOT EXISTS tailrace.server_capture {on_cluster}
SQL SECURITY INVOKER AS
SELECT
    cluster,
    instance,
    multiIf(
        age_seconds > if(last_look.1 = 'ok', 900, 7200), 'silent',
        last_look.1 != 'ok', last_look.1,
        notEmpty(not_seen), 'partial',
        'ok') AS state,
    looked_at,
    dateDiff('second', looked_at, now64(3, 'UTC')) AS age_seconds,
    last_look.2 AS error,
    not_seen,
    last_round.1 AS explain,
    last_round.2 AS explain_error,
    explain_at
FROM
(
    SELECT
        instance,
        argMax(last_cluster, kind_at) AS cluster,
        maxIf(kind_at, NOT kind IN ('errant', 'explain')) AS looked_at,
        anyIf((status, error), kind = 'server') AS last_look,
        anyIf((status, error), kind = 'explain') AS last_round,
        maxIf(kind_at, kind = 'explain') AS explain_at,
        arraySort(groupArrayIf(kind, status != 'ok' AND NOT kind IN ('server', 'errant', 'explain'))) AS not_seen
    FROM
    (
        SELECT
            instance,
            kind,
            max(at) AS kind_at,
            argMax(cluster, at) AS last_cluster,
            argMax(status, at) AS status,
            argMax(error, at) AS error
        FROM tailrace.server_snapshots
        GROUP BY instance, kind
    )
    GROUP BY instance
)
