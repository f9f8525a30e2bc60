{#- Working hours: Monday to Friday from 7 to 19 o'clock, UTC. Change them here to yours; the zone may be any IANA name. -#}
{%- macro in_working_hours(time) -%}
    (toDayOfWeek(toTimeZone({{ time }}, 'UTC')) <= 5
        AND toHour(toTimeZone({{ time }}, 'UTC')) >= 7 AND toHour(toTimeZone({{ time }}, 'UTC')) < 19)
{%- endmacro -%}
