{%- include "parts/links.sql" -%}
{%- include "parts/utc.sql" -%}
-- The number of samples by statement, without their texts.
WITH
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 7 * 86400" }} AS range_start
SELECT
    toDateTime(max(event_time), 'UTC') AS time,
    leftPad(hex(query_id), 16, '0') AS query_id,
    any(fingerprint) AS query,
    cluster, instance,
    if(database = '', '(none)', database) AS database,
    count() AS samples,
    max(query_time) AS slowest,
    {{ link_to_query('query_id', "'Query detail'") }} AS link
FROM tailrace.query_samples
ANY LEFT JOIN tailrace.fingerprints USING (query_id, rule_set)
WHERE event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC')
GROUP BY query_id, cluster, instance, database
