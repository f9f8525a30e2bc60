-- What a server counted in the histogram of a digest between two readings (since, at): a minute for the heaviest digests, an hour
-- for the others. p50, p95 and p99 are the geometric middle of their bucket, in seconds: within 2.4 %. Latencies below 10 µs are
-- shown as 5 µs, and those above 9,120 s as 9,120 s. Counters that begin anew have another first_seen, or fewer statements in a bucket:
-- is_reset. A digest whose first reading is also the server's first one has no row: what it counted before is of unknown time.
-- The view reads the complete history of the instances that a query selects.
CREATE OR REPLACE VIEW tailrace.digest_latency {on_cluster}
SQL SECURITY INVOKER AS
WITH
    arrayCumSum(mapValues(counted)) AS reached,
    (share -> mapKeys(counted)[arrayFirstIndex(each -> each >= share * statements, reached)]) AS bucket_of,
    (bucket -> if(bucket = 0, 5e-6, if(bucket = 449, exp10(448 / 50 - 5), exp10((bucket - 0.5) / 50 - 5)))) AS middle
SELECT
    cluster, instance, since, at, database, digest, is_reset, statements, counted AS buckets,
    middle(bucket_of(0.5)) AS p50, middle(bucket_of(0.95)) AS p95, middle(bucket_of(0.99)) AS p99
FROM
(
    SELECT
        cluster, instance, database, digest, at,
        if(before_at > 0, before_at, first_seen) AS since,
        before_at > 0 AND (first_seen != before_first_seen
            OR arrayExists((bucket, count) -> count > buckets[bucket], mapKeys(before), mapValues(before))) AS is_reset,
        mapFilter((bucket, count) -> count > 0, mapSort(
            if(before_at = 0 OR is_reset, buckets, mapSubtract(buckets, before)))) AS counted,
        arraySum(mapValues(counted)) AS statements
    FROM
    (
        SELECT
            cluster, instance, database, digest, at, first_seen, buckets,
            lagInFrame(buckets) OVER earlier AS before,
            lagInFrame(at) OVER earlier AS before_at,
            lagInFrame(first_seen) OVER earlier AS before_first_seen,
            min(at) OVER (PARTITION BY instance) AS began
        FROM tailrace.digest_histograms FINAL
        WINDOW earlier AS (
            PARTITION BY instance, database, digest ORDER BY at ROWS BETWEEN 1 PRECEDING AND CURRENT ROW
        )
    )
    WHERE before_at > 0 OR (at > began AND first_seen >= began - INTERVAL 1 SECOND)
)
WHERE statements > 0
