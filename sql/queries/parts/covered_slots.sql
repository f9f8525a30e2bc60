{#- The slots of `width` seconds of a range in which a log was read: (log_instance, log_source, slot), `slot` as the Unix time of its
    begin. coverage_1m has each minute of the slot in the range as covered, also a minute that is only partly in it: `width` is at
    least 60. The last two minutes before now are not expected: a census takes as long to arrive. But a slot with lost bytes is
    never read. `first` and `end` are whole minutes UTC, `condition` selects logs by cluster, instance, source. -#}
{%- macro covered_slots(first, end, width, kinds, server="''", condition="true") -%}
            SELECT any(instance) AS log_instance, toString(any(source)) AS log_source, toUInt32(slot_number * {{ width }}) AS slot
            FROM tailrace.coverage_1m(first_minute = {{ first }}, end_minute = {{ end }}, server = {{ server }}, kinds = {{ kinds }})
            ARRAY JOIN range(toUInt64(intDiv(second, {{ width }})), toUInt64(intDiv(second + 59, {{ width }}) + 1)) AS slot_number
            WHERE {{ condition }}
            GROUP BY log_id, slot
            HAVING countIf(severity = 1) > 0 AND countIf(severity = 3) = 0
                AND countIf(severity = 1 AND second < toInt64(toUnixTimestamp(toStartOfMinute(now('UTC')))) - 120) >= intDiv(
                least(toInt64(slot) + {{ width }}, toInt64(toUnixTimestamp({{ end }})),
                    toInt64(toUnixTimestamp(toStartOfMinute(now('UTC')))) - 120) + 59, 60)
                - intDiv(greatest(toInt64(slot), toInt64(toUnixTimestamp({{ first }}))), 60)
{%- endmacro -%}
