{#- The logging settings of the servers in the time range, for a WITH that defines range_start and range_end. After it,
    `logged_by` returns the text of a server, `≥ 1 s`, or `≥ 1 s → ≥ 0.5 s` after a change. The settings are unknown for servers
    that capture does not query, and before its first snapshot. -#}
{%- macro logging_of_range() -%}
    (
        SELECT tuple(
            groupArray(toString(instance)),
            groupArray(concat(if(known_since > range_start, 'unknown → ', ''), arrayStringConcat(texts, ' → '))))
        FROM (
            SELECT instance, min(since) AS known_since, arrayMap(each -> each.2, arraySort(groupArray((since, logged)))) AS texts
            FROM tailrace.effective_logging_settings
            WHERE since < range_end AND until > range_start
            GROUP BY instance)
    ) AS logging_of_range
{%- endmacro -%}
{%- macro logged_by(instance) -%}
    transform(toString({{ instance }}), logging_of_range.1, logging_of_range.2, 'unknown')
{%- endmacro -%}
{#- The last change of the logging settings of each server before the end of the range, for a WITH that defines range_end.
    After it, `is_latest` returns whether an entry is from the time since then. Percentiles must not cross this change. -#}
{%- macro latest_changes() -%}
    (
        SELECT tuple(groupArray(toString(instance)), groupArray(toUInt32(changed_at)))
        FROM (
            SELECT instance, max(since) AS changed_at
            FROM (
                SELECT instance, since, min(since) OVER (PARTITION BY instance) AS first_since
                FROM tailrace.effective_logging_settings
                WHERE since < range_end)
            WHERE since > first_since
            GROUP BY instance)
    ) AS latest_changes
{%- endmacro -%}
{%- macro is_latest(instance, time) -%}
    toUInt32({{ time }}) >= transform(toString({{ instance }}), latest_changes.1, latest_changes.2, toUInt32(0))
{%- endmacro -%}
