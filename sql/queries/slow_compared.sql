{%- include "parts/links.sql" -%}
{%- include "parts/slower.sql" -%}
{%- include "parts/statement.sql" -%}
-- Statements that are new, slower or more frequent than in the preceding interval of the same length, by server, as
-- parts/slower.sql defines it. The filters are applied here: the rows are statements, which no longer have a database or a user.
{%- macro filtered(column) -%}
    {%- set picked = filter_values(column, remove_filter=True) -%}
    {%- if picked %} AND if({{ column }} = '', '(none)', {{ column }}) IN {{ picked | where_in }}{% endif -%}
{%- endmacro -%}
{%- macro of_filters() -%}
    {{ filtered('cluster') }}{{ filtered('instance') }}{{ filtered('database') }}{{ filtered('user') }}
{%- endmacro %}
WITH
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 86400" }} AS range_start,
    {{ judged_statements(of_filters()) }}
SELECT
    cluster, instance,
    leftPad(hex(query_id), 16, '0') AS query_id,
    query,
    {{ link_to_query("leftPad(hex(judged.query_id), 16, '0')", "'open'") }} AS link,
    if(obstacle = '', difference, 'not comparable') AS verdict,
    multiIf(obstacle != '', 9, difference = 'slower', 1, difference = 'new', 2, difference = 'more often', 3, 4) AS rank,
    if(obstacle != '' OR entries_before = 0, NULL, q_now[4] / nullIf(q_before[4], 0)) AS ratio,
    if(entries_before = 0, NULL, q_before[4]) AS p95_before,
    q_now[4] AS p95_now,
    judged.executions_before AS executions_before, executions_now,
    judged.total_before AS seconds_before, judged.total_now AS seconds_now,
    1000 * judged.total_before AS total_before, 1000 * judged.total_now AS total_now, -- for saved charts
    toDateTime(first_seen, 'UTC') AS first_seen,
    if(logged = '', 'unknown', logged) AS logged,
    1 AS statement_count,
    multiIf(
        obstacle != '', obstacle,
        logged IN ('', 'unknown'), concat('threshold unknown; fastest entry ', toString(round(1000 * fastest_before, 2)),
            ' ms before, ', toString(round(1000 * fastest_now, 2)), ' ms now'),
        '') AS reason,
    if(obstacle != '', '', grown) AS grew,
    if(obstacle != '' OR entries_before = 0, NULL, q_before[8]) AS p99_before, q_now[8] AS p99_now,
    if(entries_before = 0, NULL, judged.lock_before) AS lock_seconds_before, judged.lock_now AS lock_seconds_now
FROM judged
WHERE difference != '' AND NOT is_unread
UNION ALL
-- A log that was not read then says so once, not for each of its statements.
SELECT
    cluster, instance,
    '' AS query_id, concat('all ', toString(count()), if(count() = 1, ' statement', ' statements'), ' of this server') AS query,
    '' AS link, 'not comparable' AS verdict, 9 AS rank,
    NULL AS ratio, NULL AS p95_before, NULL AS p95_now,
    NULL AS executions_before, sum(judged.executions_now) AS executions_now,
    NULL AS seconds_before, sum(judged.total_now) AS seconds_now,
    NULL AS total_before, 1000 * sum(judged.total_now) AS total_now,
    toDateTime(min(judged.first_seen), 'UTC') AS first_seen,
    if(any(judged.logged) = '', 'unknown', any(judged.logged)) AS logged,
    count() AS statement_count,
    any(obstacle) AS reason,
    '' AS grew, NULL AS p99_before, NULL AS p99_now, NULL AS lock_seconds_before, sum(judged.lock_now) AS lock_seconds_now
FROM judged
WHERE difference != '' AND is_unread
GROUP BY cluster, instance
