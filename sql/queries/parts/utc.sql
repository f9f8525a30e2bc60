{#- Converts a time from Superset's notation for ClickHouse. -#}
{%- macro utc(time) -%} toDateTime('{{ time[:19] | replace("T", " ") }}', 'UTC') {%- endmacro -%}
{#- The same time, written so that parts/change.sql does not replace it by the time of the earlier period. -#}
{%- macro utc_of_shown_range(time) -%} toDateTime('{{ time[:19] | replace("T", " ") }}','UTC') {%- endmacro -%}
