{%- include "parts/alert_state.sql" -%}
-- The alerts of the inbox by severity: how many there are, how many more before the time range (`older`), and the latest
-- ones. It reads narrow columns of all alerts once; page_alert_rows.sql then reads the rows of one page.
WITH
    filtered AS (
        SELECT alert_id, level, event_time, silenced, event_time < toDateTime64({from:DateTime('UTC')}, 6, 'UTC') AS is_older
        FROM tailrace.alerts FINAL
        WHERE event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
            AND
{%- include "parts/page_alert_filters.sql" -%}
    ),
{%- include "parts/page_alert_states.sql" -%}
SELECT
    level,
    countIf(NOT is_older) AS alerts,
    countIf(is_older) AS older,
    arrayMap(
        each -> toString(each.2),
        arraySlice(
            groupArraySortedIf(1050)((-toUnixTimestamp64Micro(event_time), alert_id), NOT is_older),
            1, {upto:UInt32})) AS latest
FROM shown
GROUP BY level
