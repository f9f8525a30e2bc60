{#- The time that a dashboard shows, for a WITH: `range_start` and `range_end`; without a time range, as where a filter asks
    for its values, the last `days`. -#}
{%- macro utc(time) -%} toDateTime('{{ time[:19] | replace("T", " ") }}', 'UTC') {%- endmacro -%}
{%- macro shown_range(days) -%}
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - " ~ days * 86400 }} AS range_start
{%- endmacro -%}
{#- Seconds between the bars of a chart that has about 60 of them; after shown_range. -#}
{%- macro bar_width() -%}
    range_end - range_start AS shown,
    multiIf(
        shown <= 3600, 60,
        shown <= 6 * 3600, 300,
        shown <= 15 * 3600, 900,
        shown <= 60 * 3600, 3600,
        shown <= 15 * 86400, 6 * 3600,
        86400) AS width
{%- endmacro -%}
{%- macro bar(time) -%} toDateTime(intDiv(toUInt32({{ time }}), width) * width, 'UTC') {%- endmacro -%}
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
