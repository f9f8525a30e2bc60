{%- include "parts/time_range.sql" -%}
{%- include "parts/data_access.sql" -%}
-- Access paths to tables with classified data. One row per action and step: from the network or the program of a client
-- to the user, and from the user to the table and to the data class. The names of the two ends of a step contain their
-- kind, so that a user and a program of the same name are distinct. Count actions, not rows.
--
-- Every action has every step: a count of actions filters on one step, and only the selected steps are computed.
{%- set ways = [
    ('client → user', "if(origin = '(unknown)', 'client unknown', origin)", "concat('user ', user)"),
    ('program → user', "if(program = '(unknown)', 'program unknown', concat('program ', program))", "concat('user ', user)"),
    ('user → table', "concat('user ', user)", "concat('table ', table_name)"),
    ('user → class', "concat('user ', user)", "concat('class ', data_class)")] -%}
{%- set steps = filter_values('step') or ways | map(attribute=0) | list %}
WITH
    {{ shown_range(7) }}
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
    SELECT
        data_access.event_time AS accessed_at,
        {{ whose() }},
        arrayJoin(if(empty(data_access.tables), ['(unknown)'], arrayMap(name -> toString(name), data_access.tables))) AS table_name,
        arrayJoin({{ touches() }}) AS touched,
        touched.1 AS data_class, touched.2 AS access
    FROM tailrace.data_access FINAL
    WHERE data_access.event_time >= range_start AND data_access.event_time < range_end
) AS flows
