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
{#- When each server last began to log differently before the end of the range, for a WITH that names range_end: after it,
    `is_latest` says of an entry whether it is of the time since then. Percentiles of both sides do not go together. -#}
{%- macro latest_changes() -%}
    (
        SELECT tuple(groupArray(toString(instance)), groupArray(toUInt32(changed_at)))
        FROM (
            SELECT instance, max(since) AS changed_at
            FROM (
                SELECT instance, since, min(since) OVER (PARTITION BY instance) AS first_since
                FROM tailrace.logging_in_force
                WHERE since < range_end)
            WHERE since > first_since
            GROUP BY instance)
    ) AS latest_changes
{%- endmacro -%}
{%- macro is_latest(instance, time) -%}
    toUInt32({{ time }}) >= transform(toString({{ instance }}), latest_changes.1, latest_changes.2, toUInt32(0))
{%- endmacro -%}
