-- How far reading is behind writing: per file and minute, the bytes that are in the file and not yet read.
-- The frontier of a minute is the furthest that was read up to its end.
{%- macro utc(time) -%} toDateTime('{{ time[:19] | replace("T", " ") }}', 'UTC') {%- endmacro %}
WITH
    {{ utc(from_dttm) if from_dttm else "now('UTC') - INTERVAL 1 DAY" }} AS range_start,
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end
SELECT
    cluster, instance, source, log, generation,
    concat(instance, ' · ', if(uniqExact(log) OVER (PARTITION BY instance, basename(log)) > 1, log, basename(log)))
        AS file,
    minute AS time,
    greatest(0, toInt64(size) - toInt64(frontier)) AS bytes_behind
FROM (
    SELECT
        cluster, instance, source, log, generation, minute, looked_at, size,
        max(read) OVER (PARTITION BY instance, source, log, generation ORDER BY minute) AS frontier
    FROM (
        SELECT
            cluster, instance, source, log, generation,
            toStartOfMinute(toDateTime(at, 'UTC')) AS minute,
            countIf(kind = 'CENSUS') > 0 AS looked_at,
            max(ledger.size) AS size,
            max(to_offset) AS read
        FROM tailrace.ledger
        WHERE kind IN ('CENSUS', 'FRONTIER') AND at >= range_start - INTERVAL 7 DAY AND at < range_end
        GROUP BY cluster, instance, source, log, generation, minute))
WHERE looked_at AND time >= range_start
