{%- include "parts/time_range.sql" -%}
{%- include "parts/data_access.sql" -%}
{%- include "parts/links.sql" -%}
{%- macro named(column, nothing) -%}
    if(anyIf({{ column }}, {{ column }} != '{{ nothing }}') = '', '{{ nothing }}', anyIf({{ column }}, {{ column }} != '{{ nothing }}'))
{%- endmacro -%}
-- Data access records: one row per action, with the statement and a link to the session. Several records may belong to
-- one action: records of other logs, and MariaDB's rows for single tables, which contain no statement. Such rows name
-- all tables, so an action with them is not unknown even if its statement does not name the tables. `rows_sent` comes
-- from the slow log.
WITH
    {{ shown_range(7) }},
    {{ touches() }} AS touched
SELECT
    first_time AS accessed_at,
    cluster, instance, user, src_ip, origin, program, database, action,
    arrayStringConcat(arrayFilter(class -> is_unknown OR class != '(unknown)', all_classes), ', ') AS classes,
    arrayStringConcat(arrayFilter(way -> has(ways, way) AND (is_unknown OR way != 'may have touched'),
        ['read', 'changed', 'may have touched']), ', ') AS how,
    arrayStringConcat(all_tables, ', ') AS tables,
    any_verb AS verb,
    arrayStringConcat(arrayFilter(basis -> is_unknown OR basis != 'unknown', bases), ', ') AS basis,
    most_rows AS rows_sent,
    multiIf(has(outcomes, 'failure'), 'failure', has(outcomes, 'success'), 'success', 'unknown') AS outcome,
    arrayStringConcat(logs, ', ') AS source_logs,
    unknown_by_log OR (has(ways, 'may have touched') AND NOT known_by_log) AS is_unknown,
    if(fingerprint = '', '(not known)', fingerprint) AS statement,
    if(max_connection = 0, '', {{ link_to_session('accessed_at', 'instance', 'toString(max_connection)', "'session'") }}) AS session,
    if(max_query IS NULL, '', {{ link_to_query("leftPad(hex(assumeNotNull(max_query)), 16, '0')", "'statement'") }}) AS link
FROM (
    SELECT
        any(cluster) AS cluster, any(instance) AS instance, action,
        toDateTime(min(record_time), 'UTC') AS first_time,
        {{ named('user', '(none)') }} AS user,
        anyIf(src_ip, src_ip != '') AS src_ip,
        if(src_ip != '', src_ip, {{ named('origin', '(unknown)') }}) AS origin,
        {{ named('program', '(unknown)') }} AS program,
        {{ named('database', '(none)') }} AS database,
        arraySort(groupUniqArrayArray(arrayMap(touch -> touch.1, record_touched))) AS all_classes,
        groupUniqArrayArray(arrayMap(touch -> touch.2, record_touched)) AS ways,
        arraySort(groupUniqArrayArray(record_tables)) AS all_tables,
        arraySort(groupUniqArrayArray(splitByString(', ', record_basis))) AS bases,
        anyIf(record_verb, record_verb != '') AS any_verb,
        max(record_rows) AS most_rows,
        groupUniqArray(record_outcome) AS outcomes,
        arraySort(groupUniqArray(log)) AS logs,
        countIf(names_rows AND NOT may_be_more) > 0 AS known_by_log,
        countIf(names_rows AND may_be_more) > 0 AS unknown_by_log,
        max(record_connection) AS max_connection,
        max(record_query) AS max_query
    FROM (
        SELECT
            {{ whose() }},
            data_access.event_time AS record_time,
            touched AS record_touched,
            arrayMap(name -> toString(name), data_access.tables) AS record_tables,
            {{ how_known() }} AS record_basis,
            toString(verb) AS record_verb,
            data_access.rows_sent AS record_rows,
            toString(data_access.outcome) AS record_outcome,
            toString(source) AS log,
            has(data_access.basis, 'log') AS names_rows,
            has(data_access.basis, 'unknown') AS may_be_more,
            data_access.connection_id AS record_connection,
            data_access.query_id AS record_query
        FROM tailrace.data_access_by_action(begin = range_start, until = range_end) AS data_access
        WHERE notEmpty(touched)
    ) AS records
    GROUP BY action
) AS actions
ANY LEFT JOIN (
    SELECT fingerprints.query_id AS text_id, fingerprint FROM tailrace.fingerprints
) AS texts ON texts.text_id = ifNull(max_query, 0)
