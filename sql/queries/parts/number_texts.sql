{#- Numbers and times as text, for the queries of dashboards and pages. -#}
{%- macro grouped(number) -%}
    trim(LEADING ',' FROM reverse(replaceRegexpAll(reverse(toString({{ number }})), '\\d{3}', '\\0,')))
{%- endmacro -%}
{#- A positive number as text. 12.25 is 12.3, as browsers round it; round() of ClickHouse writes 12.2. -#}
{%- macro three_digits(number) -%}
    toString(multiIf({{ number }} < 9.995, floor({{ number }} * 100 + 0.5) / 100,
        {{ number }} < 99.95, floor({{ number }} * 10 + 0.5) / 10, floor({{ number }} + 0.5)))
{%- endmacro -%}
{%- macro two_units(large, unit, small, smaller) -%}
    concat({{ grouped(large) }}, ' {{ unit }}', if({{ small }} = 0, '', concat(' ', toString({{ small }}), ' {{ smaller }}')))
{%- endmacro -%}
{#- Seconds as text, as the format SECONDS of charts: 83.4 µs, 125 ms, 7.25 s, 20 min 35 s, 3 h 12 min. -#}
{%- macro readable_seconds(seconds) -%}
    {%- set whole = "toInt64(floor(spent + 0.5))" -%}
    arrayMap((spent, sign) -> multiIf(
        isNull(spent), NULL,
        spent = 0, '0 s',
        concat(sign, multiIf(
        spent < 0.000001, concat({{ three_digits("1e9 * spent") }}, ' ns'),
        spent < 0.001, concat({{ three_digits("1e6 * spent") }}, ' µs'),
        spent < 1, concat({{ three_digits("1e3 * spent") }}, ' ms'),
        spent < 60, concat({{ three_digits("spent") }}, ' s'),
        {{ whole }} < 3600, {{ two_units("intDiv(" ~ whole ~ ", 60)", 'min', "modulo(" ~ whole ~ ", 60)", 's') }},
        {{ whole }} < 86400, {{ two_units("intDiv(" ~ whole ~ ", 3600)", 'h', "modulo(intDiv(" ~ whole ~ ", 60), 60)", 'min') }},
        {{ two_units("intDiv(" ~ whole ~ ", 86400)", 'd', "modulo(intDiv(" ~ whole ~ ", 3600), 24)", 'h') }}))),
        [abs({{ seconds }})], [if({{ seconds }} < 0, '-', '')])[1]
{%- endmacro -%}
