{%- include "parts/range.sql" -%}
{%- include "parts/data_access.sql" -%}
-- Who reaches which table that holds data of a class, and from where: one row for each action and step of its way, from a
-- client's network or program to the user, and from the user to the table and to the class. The names of
-- its ends say what they are, so that a user is never taken for a program of the same name. Count actions, not rows.
--
-- Every action has every step: what counts actions filters on one, and only the steps that are asked for are made.
{%- set ways = [
    ('client → user', "if(origin = '(unknown)', 'client unknown', origin)", "concat('user ', user)"),
    ('program → user', "if(program = '(not told)', 'program not told', concat('program ', program))", "concat('user ', user)"),
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
        arrayJoin(if(empty(data_access.tables), ['(not told)'], arrayMap(name -> toString(name), data_access.tables))) AS table_name,
        arrayJoin({{ touches() }}) AS touched,
        touched.1 AS data_class, touched.2 AS access
    FROM tailrace.data_access FINAL
    WHERE data_access.event_time >= range_start AND data_access.event_time < range_end
) AS flows
