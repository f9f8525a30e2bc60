WITH
{%- include "parts/entity_counts.sql" -%}
-- Numbers of an entity by bar of `width` seconds. Rows before `earlier_end` are the earlier period, in one row without a bar; rows
-- between it and `begin` do not count.
-- Parameters: kind (user, client, table, class, session), name, connection, cluster, instance, from, earlier_end, begin, to; width.
--
-- Several logs may record one action: of each server and bar, the log with the most counts. A general log writes a login
-- before the server decides, and then its refusal. Rows for single tables repeat their statement. The numbers of a data class are
-- actions, as in Data access.
SELECT
    is_current,
    toDateTime(if(is_current, bar_second, 0), 'UTC') AS bar,
    sum(most_logins) AS logins, sum(most_refused) AS refused, round(sum(most_statements)) AS statements,
    round(sum(most_failed) + sum(most_messages)) AS errors,
    {%- for name in ('reads', 'changes', 'denied') %}
    {% if of_data %}round(sum(most_{{ name }})){% else %}0.{% endif %} AS {{ name }},
    {%- endfor %}
    sumMap(kind_counts) AS kinds
FROM (
    SELECT
        is_current, bar_second, instance,
        max(login_count) AS most_logins, max(refused_count) AS most_refused, max(statement_count) AS most_statements,
        max(failed_count) AS most_failed, max(message_count) AS most_messages,
        {%- if of_data %}
        max(read_count) AS most_reads, max(change_count) AS most_changes, max(denied_count) AS most_denied,
        {%- endif %}
        sumMap(log_kinds) AS kind_counts
    FROM (
        SELECT
            is_current, bar_second, instance, log,
            greatest(toInt64(sumIf(record_count, is_login))
                - if(log = 'general', toInt64(sumIf(record_count, event_kind = 'refused')), 0), 0) AS login_count,
            sumIf(record_count, event_kind = 'refused') AS refused_count,
            sumIf(executions, event_kind IN ('statement', 'failed', 'table')) AS statement_count,
            sumIf(executions, event_kind = 'failed') AS failed_count,
            sumIf(record_count, event_kind = 'message') AS message_count,
            {%- if of_data %}
            sum(counts.reads) AS read_count, sum(counts.changes) AS change_count, sum(counts.denied) AS denied_count,
            {%- endif %}
            sumMap(map(toString(event_kind), record_count)) AS log_kinds
        FROM counts
        GROUP BY is_current, bar_second, instance, log, event_kind = 'table')
    GROUP BY is_current, bar_second, instance)
GROUP BY is_current, bar
ORDER BY is_current, bar
