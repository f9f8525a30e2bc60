{%- include "parts/links.sql" -%}
{%- include "parts/statement.sql" -%}
-- Statements that are new, slower or more frequent than in the preceding interval of the same length, by server.
--
-- To exclude noise, `slower` needs 20 entries in both intervals, a p95 that is 50 % higher, and confidence intervals
-- (95 %) that do not overlap: those of the order statistics around p95, at the levels that 20, 100 and 1,000 entries
-- allow. `more often` needs twice the executions, and more than three standard deviations of their number. Entries are
-- not compared across a change of the logging settings, nor with a time in which the log was not read.
--
-- Ranges up to a day are read from the events, longer ranges from the hourly rollup. The filters are applied here: the
-- rows are statements, which no longer have a database or a user.
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
    range_end - range_start AS shown,
    range_start - shown AS before_start,
    measures AS (
        SELECT
            cluster, instance, query_id, query_events.event_time < range_start AS was_before,
            query_events.query_time AS seconds, 1 AS entries, query_events.weight AS executions,
            query_events.query_time * query_events.weight AS total
        FROM tailrace.query_events
        WHERE shown <= 86400 AND event_time >= before_start AND event_time < range_end {{- of_filters() }}
        UNION ALL
        SELECT
            cluster, instance, query_id, hour < range_start, query_time_of_bucket, count, weight, query_time
        FROM tailrace.query_classes_1h
        WHERE shown > 86400 AND hour >= before_start AND hour < range_end {{- of_filters() }}
    ),
    compared AS (
        SELECT
            cluster, instance, query_id,
            sumIf(entries, was_before) AS entries_before, sumIf(entries, NOT was_before) AS entries_now,
            sumIf(executions, was_before) AS executions_before, sumIf(executions, NOT was_before) AS executions_now,
            sumIf(total, was_before) AS total_before, sumIf(total, NOT was_before) AS total_now,
            quantilesExactWeightedIf(0.855, 0.9, 0.9365, 0.95, 0.9635, 0.99, 1)(seconds, toUInt64(round(executions)), was_before) AS q_before,
            quantilesExactWeightedIf(0.855, 0.9, 0.9365, 0.95, 0.9635, 0.99, 1)(seconds, toUInt64(round(executions)), NOT was_before) AS q_now
        FROM measures
        GROUP BY cluster, instance, query_id
        HAVING entries_now > 0
    ),
    statements AS (
        SELECT query_id, min(first_seen_at) AS first_seen, anyLast(fingerprint) AS query
        FROM tailrace.fingerprints
        GROUP BY query_id
    ),
    read AS (
        SELECT
            instance,
            min(minute) AS read_since,
            minIf(weight / count, minute < range_start) AS least_before, maxIf(weight / count, minute < range_start) AS most_before,
            minIf(weight / count, minute >= range_start) AS least_now, maxIf(weight / count, minute >= range_start) AS most_now,
            minIf(query_time_of_bucket, minute < range_start) AS fastest_before,
            minIf(query_time_of_bucket, minute >= range_start) AS fastest_now
        FROM tailrace.query_load_1m
        WHERE minute >= before_start - shown AND minute < range_end
        GROUP BY instance
    ),
    settings AS (
        SELECT
            instance,
            arrayFirstIndex(each -> each.1 > before_start, history) AS change,
            if(change > 1, formatDateTime(history[change].1, '%F %H:%i'), '') AS changed_at,
            if(change > 1, concat(history[change - 1].2, ' → ', history[change].2), '') AS changed_how,
            if(history[1].1 > before_start, 'unknown', history[-1].2) AS logged
        FROM (
            SELECT instance, arraySort(groupArray((since, effective_logging_settings.logged))) AS history
            FROM tailrace.effective_logging_settings
            WHERE since < range_end
            GROUP BY instance)
    ),
    judged AS (
        SELECT
            *,
            least(entries_before, entries_now) AS fewer,
            multiIf(fewer >= 1000, 3, fewer >= 100, 2, fewer >= 20, 1, 0) AS sure,
            multiIf(
                entries_before = 0 AND (first_seen >= range_start OR query = ''), 'new',
                entries_before = 0 AND entries_now >= 20, 'again',
                sure > 0 AND q_now[4] >= 1.5 * q_before[4] AND q_now[sure] > q_before[8 - sure], 'slower',
                sure > 0 AND executions_now >= 2 * executions_before
                    AND entries_now - entries_before > 3 * sqrt(entries_now + entries_before), 'more often',
                '') AS difference,
            read_since > before_start + shown / 10 AS is_unread,
            multiIf(
                is_unread,
                    concat('its log is read since ', formatDateTime(read_since, '%F %H:%i'), ' UTC only'),
                changed_at != '', concat('the server logs differently since ', changed_at, ' UTC: ', changed_how),
                abs(least_before - least_now) >= 0.5 OR abs(most_before - most_now) >= 0.5,
                    concat('sampling changed: an entry stood for ', toString(round(most_before)),
                        ' executions, now for ', toString(round(most_now))),
                '') AS obstacle
        FROM compared
        LEFT JOIN statements USING (query_id)
        LEFT JOIN read USING (instance)
        LEFT JOIN settings USING (instance)
    )
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
        '') AS reason
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
    any(obstacle) AS reason
FROM judged
WHERE difference != '' AND is_unread
GROUP BY cluster, instance
