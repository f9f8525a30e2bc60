{#- Converts a time from Superset's notation for ClickHouse. -#}
{%- macro utc(time) -%} toDateTime('{{ time[:19] | replace("T", " ") }}', 'UTC') {%- endmacro -%}
