{#- A moment as Superset writes it, for ClickHouse. -#}
{%- macro utc(time) -%} toDateTime('{{ time[:19] | replace("T", " ") }}', 'UTC') {%- endmacro -%}
