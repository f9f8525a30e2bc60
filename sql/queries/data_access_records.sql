{%- include "parts/range.sql" -%}
{%- include "parts/data_access.sql" -%}
{%- include "parts/links.sql" -%}
-- The records of access to classes of data, one row each, with the statement and what its connection did: one action may be
-- told by several logs. Rows sent are known where the slow log told them.
WITH
    {{ shown_range(7) }},
    {{ touches() }} AS touched,
    arrayMap(touch -> touch.2, touched) AS ways
SELECT
    toDateTime(data_access.event_time, 'UTC') AS accessed_at,
    {{ whose() }},
    arrayStringConcat(arrayDistinct(arrayMap(touch -> touch.1, touched)), ', ') AS classes,
    arrayStringConcat(arrayDistinct(ways), ', ') AS how,
    arrayStringConcat(data_access.tables, ', ') AS tables,
    verb,
    {{ how_known() }} AS basis,
    data_access.rows_sent AS rows_sent,
    outcome,
    source AS told_by,
    has(ways, 'may have touched') AS is_unknown,
    if(fingerprint = '', '(not known)', fingerprint) AS statement,
    if(data_access.connection_id = 0, '', {{ link_to_session('accessed_at', 'instance',
        'toString(data_access.connection_id)', "'session'") }}) AS session,
    if(data_access.query_id IS NULL, '', {{ link_to_query("leftPad(hex(assumeNotNull(data_access.query_id)), 16, '0')",
        "'statement'") }}) AS look
FROM tailrace.data_access FINAL
ANY LEFT JOIN (
    SELECT fingerprints.query_id AS text_id, fingerprint FROM tailrace.fingerprints
) AS texts ON texts.text_id = ifNull(data_access.query_id, 0)
WHERE data_access.event_time >= range_start AND data_access.event_time < range_end AND notEmpty(touched)
