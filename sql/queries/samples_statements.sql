{%- include "parts/utc.sql" -%}
-- Unmasked statements of the query ids in the filter; no rows without a filter, so that each access has a reason.
WITH
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 7 * 86400" }} AS range_start
SELECT
    toDateTime(event_time, 'UTC') AS time,
    leftPad(hex(query_samples.query_id), 16, '0') AS query_id,
    cluster, instance,
    if(database = '', '(none)', database) AS database,
    query_time AS seconds,
    toValidUTF8(statement) AS statement,
    trace_id
FROM tailrace.query_samples
WHERE event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC')
{%- if filter_values('query_id') %}
    AND query_samples.query_id IN (
        SELECT reinterpretAsUInt64(reverse(unhex(arrayJoin(array{{ filter_values('query_id') | where_in }})))))
{%- else %}
    AND false
{%- endif %}
