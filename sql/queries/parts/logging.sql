{#- What servers were told to log in the time that is shown, for a WITH that names range_start and range_end: after it,
    `logged_by` gives the text of a server, `≥ 1 s`, or `≥ 1 s → ≥ 0.5 s` where that changed. Nothing is known of a server that
    the capture collector does not ask, nor of the time before it first did. -#}
{%- macro logging_of_range() -%}
    (
        SELECT tuple(
            groupArray(toString(instance)),
            groupArray(concat(if(known_since > range_start, 'unknown → ', ''), arrayStringConcat(texts, ' → '))))
        FROM (
            SELECT instance, min(since) AS known_since, arrayMap(each -> each.2, arraySort(groupArray((since, logged)))) AS texts
            FROM tailrace.logging_in_force
            WHERE since < range_end AND until > range_start
            GROUP BY instance)
    ) AS logging_of_range
{%- endmacro -%}
{%- macro logged_by(instance) -%}
    transform(toString({{ instance }}), logging_of_range.1, logging_of_range.2, 'unknown')
{%- endmacro -%}
