{%- include "parts/utc.sql" -%}
{#- The time range of a dashboard, for a WITH: `range_start` and `range_end`. Without a time range, for example for the values
    of a filter, the last `days`. -#}
{%- macro shown_range(days) -%}
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - " ~ days * 86400 }} AS range_start
{%- endmacro -%}
{#- Bar width in seconds, for 40 to 80 bars in any range from an hour to ten weeks. Requires shown_range. For a fixed width, such
    as an hour, see dashboards/README.md. -#}
{%- macro bar_width() -%}
    range_end - range_start AS shown,
    arrayFirst(
        each -> 80 * each >= shown OR each = 86400,
        [60, 120, 300, 600, 900, 1800, 3600, 7200, 3 * 3600, 6 * 3600, 12 * 3600, 86400]) AS width
{%- endmacro -%}
{%- macro bar(time) -%} toDateTime(intDiv(toUInt32({{ time }}), width) * width, 'UTC') {%- endmacro -%}
{#- The rows of a query, and for a chart over time a row with `counted` 0 for each bar. Without these rows the chart would show
    only the time between its first and last row, with bars as wide as the gaps between rows. They are copies of the first row
    that matches the filters of the chart, so that no series is added; without such a row there are none, and the chart is empty.
    `at` is the column that the time range filters. A metric of such a chart selects `counted = 1`, or it counts the added
    rows. -#}
{%- macro with_empty_buckets(query, at) -%}
{%- if 'BASE_AXIS' not in columns | default([], true) | string -%}
SELECT *, 1 AS counted FROM (
{{ query }}
)
{%- else -%}
WITH
    {{ shown_range(30) }},
    {{ bar_width() }},
    toUInt32(range_start) AS from_second,
    range(intDiv(from_second, width) * width, toUInt32(range_end), width) AS bars
SELECT
    * EXCEPT bar_second REPLACE (
        if(bar_second = 0, time, toDateTime(bar_second, 'UTC')) AS time,
        if(bar_second = 0, {{ at }}, toDateTime(greatest(bar_second, from_second + 30), 'UTC')) AS {{ at }}),
    bar_second = 0 AS counted
FROM (
    SELECT *, toUInt32(arrayJoin(if(rowNumberInAllBlocks() = 0, arrayPushFront(bars, 0), [0]))) AS bar_second
    FROM (
        SELECT * FROM (
{{ query }}
        )
        WHERE true
        {%- for each in filter | default([], true) if each.op in ('IN', '==') and each.col in table_columns %}
            AND {{ each.col }} IN {{ (each.val if each.op == 'IN' else [each.val]) | where_in }}
        {%- endfor %}
        {#- ClickHouse merges the conditions of the query into one with ours, and would number rows that it excludes: the added
            rows would be lost with the first of them. It merges none across a LIMIT. #}
        LIMIT 18446744073709551615
    ))
{%- endif %}
{%- endmacro -%}
{#- For added rows without events: they match the filter of the dashboard. -#}
{%- macro passes_filter_on(column) -%}
    array{{ (filter_values(column) or ['']) | where_in }}[1] AS {{ column }}
{%- endmacro -%}
{#- A query of the evidence (evidence_*.sql) with the time range of the dashboard as its parameters `from` and `to`. With
    `ends_now`, for states and ages at the end of the period, a range that ends in the future ends now. -#}
{%- macro within_range(query, days, ends_now=false) -%}
    {%- set end = utc(to_dttm) if to_dttm else "now('UTC')" -%}
    {{ query
        | replace("{from:DateTime('UTC')}", utc(from_dttm) if from_dttm else "(now('UTC') - INTERVAL " ~ days ~ " DAY)")
        | replace("{to:DateTime('UTC')}", "least(" ~ end ~ ", now('UTC'))" if ends_now and to_dttm else end) }}
{%- endmacro -%}
{#- Times of rows that refer to the complete range or began before it, adjusted to match the time filter of the dashboard:
    Superset evaluates "Last week" for that filter some moments after it did for the query. -#}
{%- macro begin_of_range() -%} {{ utc(from_dttm) if from_dttm else "toDateTime(0, 'UTC')" }} + INTERVAL 30 SECOND {%- endmacro -%}
{%- macro end_of_range() -%} {{ utc(to_dttm) if to_dttm else "now('UTC')" }} - INTERVAL 30 SECOND {%- endmacro -%}
