{%- include "parts/time_range.sql" -%}
{%- include "parts/data_access.sql" -%}
-- Access paths to tables with classified data. One row per action and step: from the network or the program of a client
-- to the user, and from the user to the table and to the data class. The names of the two ends of a step contain their
-- kind, so that a user and a program of the same name are distinct. Count actions, not rows.
--
-- Every action has every step: a count of actions filters on one step, and only the selected steps are computed.
--
-- One log names a table with its database, another without: a table without one has the qualified name if the accesses of the
-- server in the time range contain exactly one table of that name. If one record has both names, they are two tables.
--
-- In a drawing (columns `source` and `target`) labels must not overlap: it shows the names of the 11 flows with the most actions,
-- and combines the others as "other users (n)". Long names are shortened, with four digits of their hash.
{%- macro short(name) -%}
    if(lengthUTF8({{ name }}) > 40, concat(substringUTF8({{ name }}, 1, 34), '… ', lower(substring(hex(cityHash64({{ name }})), 1, 4))), {{ name }})
{%- endmacro -%}
{%- macro shown_or_other(name, place) -%}
    if(has(shown.{{ place }}, {{ name }}), {{ short(name) }}, concat(
        'other ',
        transform(splitByString(' → ', step)[{{ place }}],
            ['client', 'program', 'user', 'table', 'class'], ['clients', 'programs', 'users', 'tables', 'classes']),
        ' (', toString(shown.{{ place + 2 }}), ')'))
{%- endmacro -%}
{%- set ways = [
    ('client → user', "if(origin = '(unknown)', 'client unknown', concat('client ', origin))", "concat('user ', user)"),
    ('program → user', "if(program = '(unknown)', 'program unknown', concat('program ', program))", "concat('user ', user)"),
    ('user → table', "concat('user ', user)", "concat('table ', table_name)"),
    ('user → class', "concat('user ', user)", "concat('class ', data_class)")] -%}
{%- set steps = filter_values('step') or ways | map(attribute=0) | list %}
{% set query -%}
WITH
    {{ shown_range(7) }},
    qualified AS (
        SELECT server, short_name, any(name) AS whole_name
        FROM (
            SELECT DISTINCT toString(instance) AS server, toString(arrayJoin(tables)) AS name,
                extract(name, '[.](`(?:[^`]|``)*`|[^`.]+)$') AS short_name
            FROM tailrace.data_access
            WHERE event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC')
        )
        WHERE short_name != ''
        GROUP BY server, short_name
        HAVING count() = 1
    )
SELECT
    toDateTime(flows.accessed_at, 'UTC') AS event_time,
    cluster, instance, user, src_ip, program, database, data_class, access,
    arrayJoin([
        {%- for step, source, target in ways if step in steps %}
        ('{{ step }}', {{ source }}, {{ target }}){{ '' if loop.last else ',' }}
        {%- endfor %}]) AS way,
    way.1 AS step, way.2 AS source, way.3 AS target,
    table_name,
    action
FROM (
    SELECT recorded.* EXCEPT (name, names),
        if(qualified.whole_name = '' OR has(names, qualified.whole_name), name, qualified.whole_name) AS table_name
    FROM (
        SELECT
            data_access.event_time AS accessed_at,
            {{ whose() }},
            arrayMap(each -> toString(each), data_access.tables) AS names,
            arrayJoin(if(empty(names), ['(unknown)'], names)) AS name,
            arrayJoin({{ touches() }}) AS touched,
            touched.1 AS data_class, touched.2 AS access
        FROM tailrace.data_access_by_action(begin = range_start, until = range_end) AS data_access
    ) AS recorded
    LEFT JOIN qualified ON qualified.server = toString(recorded.instance) AND qualified.short_name = recorded.name
) AS flows
{%- endset -%}
{%- if 'target' not in columns | default([], true) | string -%}
{{ query }}
{%- else -%}
WITH
    flows AS (
        SELECT * FROM (
{{ query }}
        )
        WHERE true
        {%- for each in filter | default([], true) if each.op in ('IN', '==') and each.col in table_columns %}
            AND {{ each.col }} IN {{ (each.val if each.op == 'IN' else [each.val]) | where_in }}
        {%- endfor %}),
    (
        SELECT (
            groupUniqArrayIf(source, is_large) AS sources, groupUniqArrayIf(target, is_large) AS targets,
            uniqExact(source) - length(sources), uniqExact(target) - length(targets))
        FROM (
            SELECT source, target, uniqExact(action) AS actions,
                row_number() OVER (ORDER BY actions DESC, source, target) <= 11 AS is_large
            FROM flows
            GROUP BY source, target)
    ) AS shown
SELECT * REPLACE ({{ shown_or_other('source', 1) }} AS source, {{ shown_or_other('target', 2) }} AS target)
FROM flows
{%- endif %}
