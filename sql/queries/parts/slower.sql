{%- include "parts/number_texts.sql" -%}
{#- Which statements are new, slower or more frequent than in the earlier period (parts/earlier.sql), by server. This is the only
    definition of "slower": the dashboards and the work page read the column `difference` of `judged`, if its `obstacle` is ''.

    A statement is `slower` if its p95, its p99, its total time or its lock time is at least 50 % higher, beyond noise, with 20
    entries in both intervals. p95 and p99 must grow by at least 1 ms, total time and lock time by at least 1 s. So that more executions
    alone make nothing slower, total time and lock time must also be 50 % higher for each execution; the lock time must grow by at least
    a tenth of the earlier total time. Beyond noise means:
    - p95, and p99 from 300 entries on: confidence intervals (95 %) that do not overlap, those of the order statistics.
    - Total time and lock time: the means differ by more than three standard errors. About ten slow executions are enough, one is not.
      The rollups have no squares of lock times: sum(lock time * time) is at least as large.
    `more often` needs twice the executions, and more than three standard deviations of their number. Entries are not compared across
    a change of the logging settings, nor with a time in which the log was not read.

    Ranges up to a day are read from the events, longer ranges from the hourly rollup. -#}
{%- set levels = '0.855, 0.9, 0.9365, 0.95, 0.9635, 0.9787, 0.9838, 0.99, 0.9962, 1' -%}
{%- macro grew(now, before, least, each=false) -%}
    {{ now }} >= 1.5 * {{ before }} AND {{ now }} - {{ before }} >= {{ least }}
    {%- if each %} AND {{ now }} * executions_before >= 1.5 * {{ before }} * executions_now{% endif -%}
{%- endmacro -%}
{%- macro variance(sum, squares, period) -%}
    greatest(0, {{ squares }}_{{ period }} / executions_{{ period }} - pow({{ sum }}_{{ period }} / executions_{{ period }}, 2)) / entries_{{ period }}
{%- endmacro -%}
{%- macro beyond_noise(sum, squares) -%}
    {{ sum }}_now / executions_now - {{ sum }}_before / executions_before
                    > 3 * sqrt({{ variance(sum, squares, 'now') }} + {{ variance(sum, squares, 'before') }})
{%- endmacro -%}
{#- For a WITH after `range_start` and `range_end`; `conditions` are of cluster, instance, database and user, beginning with AND. -#}
{%- macro judged_statements(conditions) -%}
{%- include "parts/earlier.sql" -%}
    ,
    measures AS (
        SELECT
            cluster, instance, query_id, query_events.event_time < toDateTime64(range_start, 6, 'UTC') AS was_before,
            query_events.query_time AS seconds, 1 AS entries, query_events.weight AS executions,
            query_events.query_time * query_events.weight AS total, query_events.lock_time * query_events.weight AS locked
        FROM tailrace.query_events
        WHERE shown <= 86400 AND event_time >= before_start AND event_time < toDateTime64(range_end, 6, 'UTC')
            AND (event_time < toDateTime64(before_end, 6, 'UTC') OR event_time >= range_start) {{- conditions }}
        UNION ALL
        SELECT
            cluster, instance, query_id, hour < range_start, query_time_of_bucket, count, weight, query_time, lock_time
        FROM tailrace.query_classes_1h
        WHERE shown > 86400 AND hour >= before_start AND hour < range_end AND (hour < before_end OR hour >= range_start) {{- conditions }}
    ),
    compared AS (
        SELECT
            cluster, instance, query_id,
            sumIf(entries, was_before) AS entries_before, sumIf(entries, NOT was_before) AS entries_now,
            sumIf(executions, was_before) AS executions_before, sumIf(executions, NOT was_before) AS executions_now,
            sumIf(total, was_before) AS total_before, sumIf(total, NOT was_before) AS total_now,
            sumIf(locked, was_before) AS lock_before, sumIf(locked, NOT was_before) AS lock_now,
            sumIf(total * seconds, was_before) AS squares_before, sumIf(total * seconds, NOT was_before) AS squares_now,
            sumIf(locked * seconds, was_before) AS lock_squares_before, sumIf(locked * seconds, NOT was_before) AS lock_squares_now,
            quantilesExactWeightedIf({{ levels }})(seconds, toUInt64(round(executions)), was_before) AS q_before,
            quantilesExactWeightedIf({{ levels }})(seconds, toUInt64(round(executions)), NOT was_before) AS q_now
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
            minIf(weight / count, minute < before_end) AS least_before, maxIf(weight / count, minute < before_end) AS most_before,
            minIf(weight / count, minute >= range_start) AS least_now, maxIf(weight / count, minute >= range_start) AS most_now,
            minIf(query_time_of_bucket, minute < before_end) AS fastest_before,
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
    measured AS (
        SELECT
            *,
            least(entries_before, entries_now) AS fewer,
            multiIf(fewer >= 1000, 3, fewer >= 100, 2, fewer >= 20, 1, 0) AS sure,
            multiIf(fewer >= 1000, 2, fewer >= 300, 1, 0) AS sure_of_p99,
            {{ grew("q_now[4]", "q_before[4]", "0.001") }} AS p95_grew,
            fewer >= 100 AND {{ grew("q_now[8]", "q_before[8]", "0.001") }} AS p99_grew,
            {{ grew("total_now", "total_before", "1", each=true) }} AS total_grew,
            {{ grew("lock_now", "lock_before", "1", each=true) }} AND lock_now - lock_before >= 0.1 * total_before AS lock_grew,
            sure > 0 AND (
                p95_grew AND q_now[sure] > q_before[[10, 8, 5][sure]]
                OR p99_grew AND sure_of_p99 > 0 AND q_now[[6, 7][sure_of_p99]] > q_before[[10, 9][sure_of_p99]]
                OR total_grew AND {{ beyond_noise("total", "squares") }}
                OR lock_grew AND {{ beyond_noise("lock", "lock_squares") }}) AS is_slower
        FROM compared
    ),
    judged AS (
        SELECT
            *,
            multiIf(
                entries_before = 0 AND (first_seen >= range_start OR query = ''), 'new',
                entries_before = 0 AND entries_now >= 20, 'again',
                is_slower, 'slower',
                sure > 0 AND executions_now >= 2 * executions_before
                    AND entries_now - entries_before > 3 * sqrt(entries_now + entries_before), 'more often',
                '') AS difference,
            arrayStringConcat(arrayMap(
                -- Its spaces do not break: a column of a table is at least as wide as one measure.
                each -> replaceAll(concat(each.1, ' ', {{ readable_seconds("each.2") }}, ' → ', {{ readable_seconds("each.3") }},
                    if(each.2 > 0, concat(' (', {{ three_digits("each.3 / each.2") }}, '×)'), '')), ' ', ' '),
                arrayFilter(each -> each.4, [
                    ('p95', q_before[4], q_now[4], p95_grew AND difference = 'slower'),
                    ('p99', q_before[8], q_now[8], p99_grew AND difference = 'slower'),
                    ('total time', total_before, total_now, total_grew AND difference = 'slower' OR difference = 'more often'),
                    ('lock time', lock_before, lock_now, lock_grew AND difference = 'slower')])), '; ') AS slower_by,
            if(difference = 'more often',
                concat('executions ', {{ grouped("toUInt64(round(executions_before))") }}, ' → ', {{ grouped("toUInt64(round(executions_now))") }},
                    ' (', {{ three_digits("executions_now / executions_before") }}, '×); '),
                '') || slower_by AS grown,
            read_since > before_start + shown / 10 AS is_unread,
            multiIf(
                is_unread,
                    concat('its log is read since ', formatDateTime(read_since, '%F %H:%i'), ' UTC only'),
                changed_at != '', concat('the server logs differently since ', changed_at, ' UTC: ', changed_how),
                abs(least_before - least_now) >= 0.5 OR abs(most_before - most_now) >= 0.5,
                    concat('sampling changed: an entry stood for ', toString(round(most_before)),
                        ' executions, now for ', toString(round(most_now))),
                '') AS obstacle
        FROM measured
        LEFT JOIN statements USING (query_id)
        LEFT JOIN read USING (instance)
        LEFT JOIN settings USING (instance)
    )
{%- endmacro -%}
