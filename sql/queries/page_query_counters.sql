-- What servers counted of one statement in Performance Schema, one row for each server, database and digest: all executions, also
-- those that no log contains. A digest is of this statement if capture read a sample of it with its query id (digests: true).
--
-- Counters are sampled each minute, and histograms each minute or hour: what is counted is what was counted between two
-- readings that end in the range, so its ends are exact to a minute, those of a histogram to an hour. p50, p95 and p99 are the
-- geometric middle of a bucket, in seconds: within 2.4 %; below 10 µs 5 µs, and at most 9,120 s. They are of
-- `histogram_statements` statements, and NULL if no histogram is known. The first reading of a digest that was
-- first seen earlier counts nothing.
-- Parameters: from, to, query_ids, cluster, instance.
WITH
    {from:DateTime('UTC')} AS range_start, {to:DateTime('UTC')} AS range_end,
    -- Complete snapshots are an hour apart.
    toDateTime64(range_start, 3, 'UTC') - INTERVAL 65 MINUTE AS oldest,
    (buckets, share) -> mapKeys(buckets)[arrayFirstIndex(
        each -> each >= share * arraySum(mapValues(buckets)), arrayCumSum(mapValues(buckets)))] AS bucket_of,
    bucket -> multiIf(bucket = 0, 5e-6, bucket = 449, exp10(448 / 50 - 5), exp10((bucket - 0.5) / 50 - 5)) AS middle,
    its AS (
        SELECT DISTINCT instance, database, digest FROM tailrace.digest_samples
        WHERE query_id IN {query_ids:Array(UInt64)} AND at >= oldest AND at < toDateTime64(range_end, 3, 'UTC')
            AND ({cluster:String} = '' OR cluster = {cluster:String})
            AND ({instance:String} = '' OR instance = {instance:String})),
    counts AS (
        SELECT instance, database, digest, sumForEach(delta) AS sums, max(at) AS counted_until
        FROM (
            SELECT
                instance, database, digest, at,
                if(before_at = 0 OR first_seen != before_first_seen OR counters[1] < before[1],
                    counters, arrayMap((now, then) -> toUInt64(now - then), counters, arrayResize(before, length(counters)))) AS delta
            FROM (
                SELECT
                    instance, database, digest, at, first_seen,
                    [statements, timer_ps, lock_ps, errors, rows_sent, rows_examined, tmp_disk_tables, sort_rows, no_index_used]
                        AS counters,
                    lagInFrame(counters) OVER earlier AS before,
                    lagInFrame(at) OVER earlier AS before_at,
                    lagInFrame(first_seen) OVER earlier AS before_first_seen
                FROM tailrace.digest_samples FINAL
                WHERE (instance, database, digest) IN (SELECT instance, database, digest FROM its)
                    AND at >= oldest AND at < toDateTime64(range_end, 3, 'UTC')
                WINDOW earlier AS (
                    PARTITION BY instance, database, digest ORDER BY at ROWS BETWEEN 1 PRECEDING AND CURRENT ROW))
            WHERE at >= range_start AND (before_at > 0 OR first_seen >= oldest))
        GROUP BY instance, database, digest),
    latencies AS (
        SELECT instance, database, digest, mapFilter((bucket, count) -> count > 0, sumMap(delta)) AS buckets
        FROM (
            SELECT
                instance, database, digest, at,
                if(before_at = 0 OR first_seen != before_first_seen
                        OR arrayExists((bucket, count) -> count > buckets[bucket], mapKeys(before), mapValues(before)),
                    buckets, mapSubtract(buckets, before)) AS delta
            FROM (
                SELECT
                    instance, database, digest, at, first_seen, buckets,
                    lagInFrame(buckets) OVER earlier AS before,
                    lagInFrame(at) OVER earlier AS before_at,
                    lagInFrame(first_seen) OVER earlier AS before_first_seen
                FROM tailrace.digest_histograms FINAL
                WHERE (instance, database, digest) IN (SELECT instance, database, digest FROM its)
                    AND at >= oldest AND at < toDateTime64(range_end, 3, 'UTC')
                WINDOW earlier AS (
                    PARTITION BY instance, database, digest ORDER BY at ROWS BETWEEN 1 PRECEDING AND CURRENT ROW))
            WHERE at >= range_start AND (before_at > 0 OR first_seen >= oldest))
        GROUP BY instance, database, digest)
SELECT
    toString(counts.instance) AS server, toString(counts.database) AS database, counts.digest AS digest,
    sums[1] AS statements, sums[2] / 1e12 AS total_seconds, sums[2] / 1e12 / sums[1] AS mean,
    sums[3] / 1e12 AS lock_seconds, if(sums[2] = 0, NULL, sums[3] / sums[2]) AS lock_share, sums[4] AS errors,
    sums[5] / sums[1] AS rows_sent, sums[6] / sums[1] AS rows_examined,
    sums[7] AS tmp_disk_tables, sums[8] / sums[1] AS sort_rows, sums[9] / sums[1] AS no_index_share,
    toUInt64(arraySum(mapValues(buckets))) AS histogram_statements,
    if(histogram_statements = 0, NULL, middle(bucket_of(buckets, 0.5))) AS p50,
    if(histogram_statements = 0, NULL, middle(bucket_of(buckets, 0.95))) AS p95,
    if(histogram_statements = 0, NULL, middle(bucket_of(buckets, 0.99))) AS p99,
    toDateTime(counted_until, 'UTC') AS until
FROM counts
LEFT JOIN latencies
    ON latencies.instance = counts.instance AND latencies.database = counts.database AND latencies.digest = counts.digest
WHERE sums[1] > 0
ORDER BY total_seconds DESC, server, database, digest
LIMIT 50
