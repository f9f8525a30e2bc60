{%- include "parts/time_range.sql" -%}
{%- include "parts/session.sql" -%}
{%- include "parts/error_codes.sql" -%}
{%- include "parts/links.sql" -%}
-- The events of one session in order, from each log; one action may be in several logs. Rows for single tables are
-- omitted if their statement is present, which then has their classes. Statements are masked.
WITH
    {{ shown_range(1) }},
    {{ alerted() }},
    {{ chosen_session() }},
    touched AS (
        SELECT event_id, arrayMap(class -> toString(class), data_class) AS classes
        FROM tailrace.data_access FINAL
        WHERE instance = chosen.1 AND connection_id = chosen.2
            AND data_access.event_time >= range_start AND data_access.event_time < toDateTime64(range_end, 6, 'UTC')),
    classified AS (
        SELECT
            its.*,
            arraySort(groupUniqArrayArray(touched.classes) OVER (
                PARTITION BY log, if(server_query_id = 0, toString(its.event_id), toString(server_query_id)))) AS classes
        FROM its
        LEFT JOIN touched ON touched.event_id = its.event_id),
    dateDiff('second', begun, ended) AS length,
    multiIf(length <= 60, 1, length <= 600, 10, length <= 3600, 60, length <= 6 * 3600, 300, 3600) AS width
SELECT
    toDateTime(intDiv(toUInt32(its.event_time), width) * width, 'UTC') AS time,
    identity(its.event_time) AS event_time, generation, entry_offset,
    cluster, instance, toString(its.connection_id) AS connection_id,
    anyIf(its.user, its.user != '') OVER () AS user,
    anyIf(its.src_ip, its.src_ip != '(unknown)') OVER () AS src_ip,
    coalesce(nullIf(anyIf(its.program, its.program != '') OVER (), ''), '(unknown)') AS program,
    coalesce(nullIf(anyIf(its.connection_type, its.connection_type != '') OVER (), ''), '(unknown)') AS connection_type,
    its.database AS database,
    log, is_statement, its.error AS error_code,
    multiIf(
        its.error != '', 'refused or failed',
        event_class = 'message', 'message',
        event_class = 'connection', 'login and logout',
        verb IN ('GRANT', 'REVOKE') OR match(statement, '^(create|drop|alter|rename) (user|role)'), 'rights',
        verb IN ('CREATE', 'ALTER', 'DROP', 'RENAME', 'TRUNCATE'), 'definition',
        verb IN ('INSERT', 'UPDATE', 'DELETE', 'REPLACE', 'LOAD'), 'change',
        verb IN ('SELECT', 'TABLE', 'WITH', 'VALUES'), 'read',
        'other') AS operation,
    if(event_class = 'message', its.command, if(verb = '', its.command, verb)) AS command,
    if(message != '', message, ifNull(texts.fingerprint, '')) AS statement,
    arrayStringConcat(if(empty(tables) AND object != '' AND event_class = 'table', [object], tables), ', ') AS tables_touched,
    classes,
    arrayStringConcat(classes, ', ') AS data_classes,
    its.rows_sent AS rows_sent, its.seconds AS seconds,
    {{ error_text('its.error') }} AS error,
    if(its.query_id IS NULL, '', leftPad(hex(assumeNotNull(its.query_id)), 16, '0')) AS query_id,
    if(query_id = '', '', {{ link_to_query('query_id', "'query'") }}) AS link
FROM classified AS its
ANY LEFT JOIN (
    SELECT assumeNotNull(query_id) AS query_id, rule_set, fingerprint FROM tailrace.fingerprints
    WHERE fingerprints.query_id GLOBAL IN (SELECT query_id FROM records)
) AS texts ON texts.query_id = its.query_id AND texts.rule_set = its.rule_set
WHERE event_class != 'table' OR server_query_id = 0 OR NOT statement_is_there
