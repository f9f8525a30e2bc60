{%- include "parts/utc.sql" -%}
{#- The time that a dashboard shows, for a WITH: `range_start` and `range_end`; without a time range, as where a filter asks
    for its values, the last `days`. -#}
{%- macro shown_range(days) -%}
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - " ~ days * 86400 }} AS range_start
{%- endmacro -%}
{#- Seconds between the bars of a chart, for 40 to 80 of them in any range from an hour to ten weeks; after shown_range. -#}
{%- macro bar_width() -%}
    range_end - range_start AS shown,
    arrayFirst(
        each -> 80 * each >= shown OR each = 86400,
        [60, 120, 300, 600, 900, 1800, 3600, 7200, 3 * 3600, 6 * 3600, 12 * 3600, 86400]) AS width
{%- endmacro -%}
{%- macro bar(time) -%} toDateTime(intDiv(toUInt32({{ time }}), width) * width, 'UTC') {%- endmacro -%}
{#- The rows of a query, and for a chart over time a row of none (`counted` is 0) for each bar: without them the chart would
    show the time between its first and its last row alone, and make bars as wide as the gaps between rows. They are made of
    the first row that passes the chart's filters, so that no series is added; without such a row there are none, and the chart
    says that it is empty. `at` is the column that the time range filters. -#}
{%- macro with_quiet_bars(query, at) -%}
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
{{ query }}
    )
    WHERE true
    {%- for each in filter | default([], true) if each.op in ('IN', '==') and each.col in table_columns %}
        AND {{ each.col }} IN {{ (each.val if each.op == 'IN' else [each.val]) | where_in }}
    {%- endfor %})
{%- endif %}
{%- endmacro -%}
{#- For rows that are added so that nothing is drawn as nothing: they pass the dashboard's filter. -#}
{%- macro passes_filter_on(column) -%}
    array{{ (filter_values(column) or ['']) | where_in }}[1] AS {{ column }}
{%- endmacro -%}
{#- A query of evidence (evidence_*.sql) about the time that is shown: its parameters `from` and `to` filled in. -#}
{%- macro within_range(query, days) -%}
    {{ query
        | replace("{from:DateTime('UTC')}", utc(from_dttm) if from_dttm else "(now('UTC') - INTERVAL " ~ days ~ " DAY)")
        | replace("{to:DateTime('UTC')}", utc(to_dttm) if to_dttm else "now('UTC')") }}
{%- endmacro -%}
{#- Times of what is about the whole range, or began before it, so that the dashboard's time range lets it through: Superset
    reads "Last week" for that filter some moments after it did for the query. -#}
{%- macro begin_of_range() -%} {{ utc(from_dttm) if from_dttm else "toDateTime(0, 'UTC')" }} + INTERVAL 30 SECOND {%- endmacro -%}
{%- macro end_of_range() -%} {{ utc(to_dttm) if to_dttm else "now('UTC')" }} - INTERVAL 30 SECOND {%- endmacro -%}
