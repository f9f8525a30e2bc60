{#- Counts of the records of an entity, for a WITH: of each server and log, by kind of record and bar. Each log is grouped by
    its stored columns first, so that kinds are computed for groups and not for each record.

    `daily`: bars are days. Whole days come from entities_1d; the days in which the range or the earlier period begins or ends come
    from the rows. Data classes always come from the rows. -#}
{%- include "parts/entity_conditions.sql" -%}
{%- include "parts/entity_actions.sql" -%}
{%- set daily = daily | default(false) -%}
{%- include "parts/refusal_codes.sql" -%}
{%- macro bar(time) -%}
{{ time }} >= {begin:DateTime64(6, 'UTC')} AS is_current, intDiv(toUnixTimestamp({{ time }}), {width:UInt32}) * {width:UInt32} AS bar_second
{%- endmacro -%}
{#- The range and the earlier period; between them can be a part of a day (TimeRange.before). -#}
{%- macro is_counted(time) -%}
({{ time }} >= {begin:DateTime64(6, 'UTC')} OR {{ time }} < {earlier_end:DateTime64(6, 'UTC')})
{%- endmacro -%}
{%- macro partial_days(table) %}
            AND {{ is_counted(table ~ '.event_time') }}
    {%- if daily %}
            AND toDate({{ table }}.event_time) IN (
                toDate({from:DateTime64(6, 'UTC')}), toDate({earlier_end:DateTime64(6, 'UTC')}),
                toDate({begin:DateTime64(6, 'UTC')}), toDate({to:DateTime64(6, 'UTC')}))
    {%- endif -%}
{%- endmacro -%}
{%- macro of_whole_days(table) -%}
FROM tailrace.entities_1d
            WHERE entity_kind = '{{ kind }}' AND name = {{ its_name() }}
                AND event_table = '{{ table }}' AND toDate(day) > toDate({from:DateTime64(6, 'UTC')})
                AND toDate(day) < toDate({to:DateTime64(6, 'UTC')}) AND toDate(day) != toDate({begin:DateTime64(6, 'UTC')})
                AND toDate(day) != toDate({earlier_end:DateTime64(6, 'UTC')}) AND {{ is_counted('day') }}
                AND ({cluster:String} = '' OR cluster = {cluster:String}) AND ({instance:String} = '' OR instance = {instance:String})
{%- endmacro -%}
{%- macro whole_days(table) -%}
SELECT
                {{ bar('day') }},
                instance, source, {% if table == 'audit_events' %}event_class, command, event_name, login_kind, {% endif %}has_failed,
                sum(entities_1d.count) AS record_count{% if table == 'query_events' %}, sum(entities_1d.weight) AS executions{% endif %}
                {%- if of_data %},
                sum(entities_1d.reads) AS reads, sum(entities_1d.changes) AS changes,
                sumIf(entities_1d.weight, error_code IN {{ privilege_refusals() }}) AS denied
                {%- endif %}
            {{ of_whole_days(table) }}
            GROUP BY is_current, bar_second, instance, source, {% if table == 'audit_events' %}event_class, command, event_name, login_kind, {% endif %}has_failed
{%- endmacro -%}
{#- Reads, changes and refused access are numbers of tables and classes only; other pages have no column for them. -#}
{%- set of_data = kind in ('table', 'class') -%}
{%- set its_uses = ', reads, changes, denied' if of_data else '' -%}
{%- macro uses(weight, denied) -%}
    {%- if of_data %},
                sumIf({{ weight }}, has(tables_read, {name:String})) AS reads, sumIf({{ weight }}, has(tables_written, {name:String})) AS changes,
                sumIf({{ weight }}, {{ denied }}) AS denied
    {%- endif -%}
{%- endmacro %}
    counts AS (
{%- if kind == 'class' %}
        SELECT
            is_current, bar_second, instance, log, event_kind, false AS is_login,
            record_count, executions, reads, changes, 0. AS denied
        FROM (
            SELECT
                {{ bar('data_access.event_time') }},
                instance, source AS log, if(outcome = 'failure', 'failed', 'statement') AS event_kind,
                count() AS record_count, 0. AS executions, 0. AS reads, 0. AS changes
            FROM tailrace.data_access FINAL
            WHERE has(data_class, {name:String}) AND {{ range('data_access') }} AND {{ is_counted('data_access.event_time') }}
            GROUP BY is_current, bar_second, instance, log, event_kind
            UNION ALL
            SELECT
                {{ bar('begun') }},
                instance, 'all logs' AS log, if(has_failed, 'failed', 'statement') AS event_kind,
                0 AS record_count, toFloat64(count()) AS executions,
                toFloat64(countIf(has_read)) AS reads, toFloat64(countIf(has_changed)) AS changes
            FROM (
                SELECT
                    instance, min(data_access.event_time) AS begun, max(outcome = 'failure') AS has_failed,
                    max(has(data_class_read, {name:String})) AS has_read,
                    max(has(data_class_written, {name:String})) AS has_changed
                FROM {{ actions() }} AS data_access
                WHERE has(data_class, {name:String})
                    AND ({cluster:String} = '' OR cluster = {cluster:String})
                    AND ({instance:String} = '' OR instance = {instance:String})
                GROUP BY instance, action_id)
            WHERE {{ is_counted('begun') }}
            GROUP BY is_current, bar_second, instance, log, event_kind)
{%- else %}
        SELECT
            is_current, bar_second, instance, source AS log, {{ kind_of_audit() }} AS event_kind, {{ is_login() }} AS is_login,
            record_count, toFloat64(record_count) AS executions {{- its_uses }}
        FROM (
            SELECT
                {{ bar('audit_events.event_time') }},
                instance, source, event_class, command, event_name, login_kind, has_failed, count() AS record_count
                {{- uses('1.', 'status IN ' ~ privilege_refusals()) }}
            FROM tailrace.audit_events
            WHERE {{ is_its() }} AND {{ range('audit_events') }} {{- in_its_granules() }} {{- partial_days('audit_events') }}
            GROUP BY is_current, bar_second, instance, source, event_class, command, event_name, login_kind, has_failed
            {%- if daily %}
            UNION ALL
            {{ whole_days('audit_events') }}
            {%- endif %})
        UNION ALL
        SELECT
            is_current, bar_second, instance, source AS log, {{ kind_of_entry() }} AS event_kind, false AS is_login,
            record_count, executions {{- its_uses }}
        FROM (
            SELECT
                {{ bar('query_events.event_time') }},
                instance, source, has_failed, count() AS record_count, sum(weight) AS executions
                {{- uses('weight', 'query_events.error_code IN ' ~ privilege_refusals()) }}
            FROM tailrace.query_events
            WHERE {{ is_its() }} AND {{ range('query_events') }} {{- in_its_granules() }} {{- partial_days('query_events') }}
            GROUP BY is_current, bar_second, instance, source, has_failed
            {%- if daily %}
            UNION ALL
            {{ whole_days('query_events') }}
            {%- endif %})
    {%- if kind != 'table' %}
        UNION ALL
        SELECT
            is_current, bar_second, instance, source AS log, if(message_kind = 'access_denied', 'refused', 'message') AS event_kind, false AS is_login,
            record_count, toFloat64(record_count) AS executions
        FROM (
            SELECT
                {{ bar('error_events.event_time') }},
                instance, source, error_events.kind AS message_kind, count() AS record_count
            FROM tailrace.error_events
            WHERE {{ is_its('thread_id') }} AND {{ range('error_events') }} {{- partial_days('error_events') }}
            GROUP BY is_current, bar_second, instance, source, message_kind
            {%- if daily %}
            UNION ALL
            SELECT {{ bar('day') }}, instance, source, command AS message_kind, sum(entities_1d.count) AS record_count
            {{ of_whole_days('error_events') }}
            GROUP BY is_current, bar_second, instance, source, message_kind
            {%- endif %})
    {%- endif %}
{%- endif %})
