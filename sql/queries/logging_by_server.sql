{%- include "parts/statement.sql" -%}
{%- include "parts/logging.sql" -%}
-- The logging settings of each server, next to what its log shows: the number of executions that an entry represents
-- (Percona Server logs its sampling rate, MariaDB does not), and its fastest entry. The threshold may be lower than the
-- fastest entry.
WITH
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 86400" }} AS range_start,
    {{ logging_of_range() }},
    changes AS (
        SELECT instance, toInt64(countIf(since > greatest(first_since, range_start))) AS times FROM (
            SELECT instance, since, min(since) OVER (PARTITION BY instance) AS first_since
            FROM tailrace.effective_logging_settings
            WHERE since < range_end)
        GROUP BY instance)
SELECT
    cluster, instance,
    {{ logged_by('instance') }} AS logged,
    changes.times AS changed,
    sum(count) AS entries,
    min(weight / count) AS least_each,
    max(weight / count) AS most_each,
    if(most_each - least_each < 0.5, toString(round(most_each)),
        concat(toString(round(least_each)), ' to ', toString(round(most_each)))) AS executions_each,
    min(query_time_of_bucket) AS fastest
FROM tailrace.query_load_1m
LEFT JOIN changes USING (instance)
WHERE minute >= range_start AND minute < range_end
GROUP BY cluster, instance, changed
