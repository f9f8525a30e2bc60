{#- Sessions: a session is a server, a connection id and the time between two logins with this id, because connection ids
    start again when a server restarts. For a WITH that defines range_start and range_end. -#}
{%- macro passes(column, expression) -%}
    {%- if filter_values(column) %} AND {{ expression or column }} IN {{ filter_values(column) | where_in }}{% endif -%}
{%- endmacro -%}
{%- macro wanted(connection, address) -%}
    {{ passes('cluster') }}{{ passes('instance') }}{{ passes('user') }}{{ passes('connection_id', 'toString(' ~ connection ~ ')') }}
    {{- passes('src_ip', address or client()) }}
{%- endmacro -%}
{%- macro client() -%} coalesce(nullIf(client_ip, ''), nullIf(client_host, ''), '(unknown)') {%- endmacro -%}
{#- Alerts with the records to which they refer; an alert about several servers may refer to records of each. -#}
{%- macro alerted() -%}
    alerted AS (
        SELECT
            toUUIDOrZero(arrayJoin(event_ids)) AS event_id, alert_id,
            indexOf(['informational', 'low', 'medium', 'high', 'critical'], level) AS level_rank
        FROM tailrace.alerts FINAL
        WHERE alerts.event_time >= range_start AND alerts.window_from < toDateTime64(range_end, 6, 'UTC')),
    alerted_records AS (
        SELECT event_time, instance, connection_id, alert_id, level_rank
        FROM (
            SELECT event_time, instance, connection_id, event_id FROM tailrace.audit_events
            WHERE event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC') AND connection_id != 0
                AND event_id IN (SELECT event_id FROM alerted) {{ wanted('connection_id') }}
            UNION ALL
            SELECT event_time, instance, connection_id, event_id FROM tailrace.query_events
            WHERE event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC') AND connection_id != 0
                AND event_id IN (SELECT event_id FROM alerted) {{ wanted('connection_id') }}
        ) AS named
        INNER JOIN alerted USING (event_id))
{%- endmacro -%}
{#- Connections by relevance: those with alerts, by level, then those with refused attempts, then the latest ones, which are
    read only if there are not enough of the others. -#}
{%- macro connections_by_relevance(most) -%}
    (
        SELECT groupArray((name, connection_id, score, last))
        FROM (
            SELECT toString(instance) AS name, connection_id, sum(weight) AS score, max(at) AS last
            FROM (
                SELECT instance, connection_id, pow(10, max(level_rank)) AS weight, max(event_time) AS at
                FROM alerted_records GROUP BY instance, connection_id
                UNION ALL
                SELECT instance, connection_id, 1, max(event_time) FROM tailrace.audit_events
                WHERE event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC') AND connection_id != 0 AND has_failed
                    {{- wanted('connection_id') }}
                GROUP BY instance, connection_id ORDER BY max(event_time) DESC LIMIT {{ most }})
            GROUP BY instance, connection_id
            ORDER BY score DESC, last DESC, name, connection_id
            LIMIT {{ most }})
    ) AS notable_connections,
    (
        SELECT groupArray((name, connection_id))
        FROM (
            SELECT name, connection_id, sum(score) AS whole_score, max(last) AS latest
            FROM (
                SELECT each.1 AS name, each.2 AS connection_id, each.3 AS score, each.4 AS last
                FROM (SELECT arrayJoin(notable_connections) AS each)
                UNION ALL
                SELECT toString(instance), connection_id, 0, max(event_time) FROM tailrace.audit_events
                WHERE length(notable_connections) < {{ most }} AND event_class = 'connection'
                    AND event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC') AND connection_id != 0
                    {{- wanted('connection_id') }}
                GROUP BY instance, connection_id ORDER BY max(event_time) DESC LIMIT {{ most }}
                UNION ALL
                SELECT toString(instance), connection_id, 0, max(event_time) FROM tailrace.query_events
                WHERE length(notable_connections) < {{ most }}
                    AND event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC') AND connection_id != 0
                    {{- wanted('connection_id') }}
                GROUP BY instance, connection_id ORDER BY max(event_time) DESC LIMIT {{ most }})
            GROUP BY name, connection_id
            ORDER BY whole_score DESC, latest DESC, name, connection_id
            LIMIT {{ most }})) AS connections
{%- endmacro -%}
{#- The records of connections, each with the number of its session within the range; 0 is a session that began before it. -#}
{%- macro session_records(connections) -%}
    records AS (
        SELECT
            event_id, audit_events.event_time AS event_time, generation, entry_offset,
            cluster, instance, connection_id, toString(source) AS log,
            toString(user) AS user, {{ client() }} AS src_ip, toString(program_name) AS program,
            toString(connection_type) AS connection_type, toString(database) AS database,
            toString(event_class) AS event_class, toString(command) AS command, toString(verb) AS verb,
            login_kind AS kind_of_login, has_failed AS is_failure,
            event_class = 'query' AND event_name IN ('', 'status') AS is_statement,
            if(status = 0, '', toString(status)) AS error, query_id, rule_set, server_query_id,
            arrayMap(name -> toString(name), arrayDistinct(arrayConcat(tables_read, tables_written))) AS tables,
            toString(object) AS object, NULL AS seconds, NULL AS rows_sent, '' AS message
        FROM tailrace.audit_events
        WHERE audit_events.event_time >= range_start AND audit_events.event_time < toDateTime64(range_end, 6, 'UTC')
            AND (instance, connection_id) IN (SELECT arrayJoin({{ connections }}))
        UNION ALL
        SELECT
            event_id, query_events.event_time, generation, entry_offset, cluster, instance, connection_id, 'slow log',
            toString(user), {{ client() }}, '', '', toString(database), 'query', 'QUERY', toString(verb), '', has_failed, true,
            if(ifNull(error_code, 0) = 0, '', toString(error_code)), toNullable(query_id), rule_set, 0,
            arrayMap(name -> toString(name), arrayDistinct(arrayConcat(tables_read, tables_written))),
            '', query_time, query_events.rows_sent, ''
        FROM tailrace.query_events
        WHERE query_events.event_time >= range_start AND query_events.event_time < toDateTime64(range_end, 6, 'UTC')
            AND (instance, connection_id) IN (SELECT arrayJoin({{ connections }}))
        UNION ALL
        SELECT
            event_id, error_events.event_time, generation, entry_offset, cluster, instance, thread_id, 'error log',
            toString(user), {{ client() }}, '', '', toString(database), 'message', toString(kind), '', '', kind = 'access_denied', false,
            if(kind = 'access_denied', '1045', ''), NULL, '', 0, [], '', NULL, NULL, message
        FROM tailrace.error_events
        WHERE error_events.event_time >= range_start AND error_events.event_time < toDateTime64(range_end, 6, 'UTC')
            AND (instance, thread_id) IN (SELECT arrayJoin({{ connections }}))),
    logins_marked AS (
        SELECT
            *,
            kind_of_login = 'connect' AND NOT is_failure AS is_login,
            minIf(log, is_login) OVER (PARTITION BY instance, connection_id) AS login_log,
            is_login AND log = login_log AS begins
        FROM records),
    sessions_numbered AS (
        -- Records with the same time: those of the log with the logins are in its order, those of other logs belong to the last login.
        SELECT
            *,
            sum(begins) OVER (
                PARTITION BY instance, connection_id
                ORDER BY event_time, log != login_log, generation, entry_offset, NOT begins
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS session
        FROM logins_marked)
{%- endmacro -%}
{#- Whether an alert is about the user or the client of a session, on its server, during the session or in the 15 minutes before
    it, in which a password may have been guessed. `about` is the user of the alert in lower case. -#}
{%- macro is_about(at, window_from, about, address, since, until, names, addresses) -%}
    {{ at }} >= {{ since }} - INTERVAL 15 MINUTE AND {{ window_from }} <= {{ until }}
        AND ({{ about }} != '' AND has({{ names }}, {{ about }}) AND ({{ address }} = '' OR has({{ addresses }}, {{ address }}))
            OR {{ about }} = '' AND has({{ addresses }}, {{ address }}))
{%- endmacro -%}
{#- Alerts that may be related to a session of the range, for a WHERE. -#}
{%- macro is_alert_of_range() -%}
    alerts.event_time >= range_start - INTERVAL 15 MINUTE AND alerts.window_from < toDateTime64(range_end, 6, 'UTC')
{%- endmacro -%}
{#- Statements in two logs count once: for each session, the log with the most statements counts. -#}
{%- macro most_of_a_log(condition) -%}
    greatest(countIf({{ condition }} AND log = 'audit'), countIf({{ condition }} AND log = 'general'),
        countIf({{ condition }} AND log = 'slow log'))
{%- endmacro -%}
{#- The records of the session of the dashboard, for a WITH: the last session of the connection in the filters, or else the
    first one by relevance. A query that refers to `its` twice reads the logs twice. -#}
{%- macro chosen_session() -%}
    {%- if filter_values('instance') | length == 1 and filter_values('connection_id') | length == 1 %}
    (array{{ filter_values('instance') | where_in }}[1], toUInt64OrZero(array{{ filter_values('connection_id') | where_in }}[1])) AS chosen,
    {%- else %}
    {{ connections_by_relevance(1) }},
    connections[1] AS chosen,
    {%- endif %}
    {{ session_records('[chosen]') }},
    its AS (
        SELECT
            *,
            min(event_time) OVER () AS begun, max(event_time) OVER () AS ended,
            countIf(event_class = 'query') OVER (PARTITION BY server_query_id) > 0 AS statement_is_there
        FROM (SELECT *, max(session) OVER () AS last_session FROM sessions_numbered)
        WHERE session = last_session)
{%- endmacro -%}
