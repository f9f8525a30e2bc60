{%- include "parts/alert_state.sql" -%}
-- Alerts that are due for delivery to a channel, those with the fewest attempts first.
--
-- There is no cursor: every pass compares the alerts of the last {window:UInt32} seconds with all recorded attempts.
-- The result does not depend on the order in which rows appear, on clocks other than ClickHouse's, on merges (FINAL),
-- or on the uptime of the service. Closed and suppressed alerts are not delivered.
-- With {resolves:UInt8}, a closed alert that the channel has delivered is due once more, to resolve it there, and a
-- resolved alert that was reopened is due as a new one. An alert that was closed by the receiver of the channel itself is
-- marked, so that it is recorded as resolved without a request.
--
-- A failed attempt is repeated after a delay that doubles up to a maximum, times 0.75 to 1.25 (fixed per attempt, so
-- that a restart changes nothing). An alert is delivered again if its count has grown and the last delivery is old
-- enough. Attempts are numbered from 1; the attempts of one delivery are those since the last first one.
WITH
    recent AS (
        SELECT alert_id
        FROM tailrace.alerts
        WHERE ingested_at >= greatest(now() - {window:UInt32}, fromUnixTimestamp({begun:UInt32}))),
    tried AS (
        SELECT
            alert_id,
            argMax(outcome, at) AS last_outcome,
            argMax(attempt, at) AS last_attempt,
            argMax(alert_deliveries.count, at) AS last_count,
            max(at) AS last_at,
            maxIf(at, attempt = 1) AS began_at,
            maxIf(at, outcome = 'delivered') > maxIf(at, outcome = 'resolved') AS is_open_there
        FROM tailrace.alert_deliveries
        WHERE channel = {channel:String} AND outcome != 'begun' AND alert_id IN recent
        GROUP BY alert_id),
    closed AS (
        SELECT alert_id
        FROM tailrace.alert_actions
        WHERE alert_id IN recent
        GROUP BY alert_id
        HAVING {{ last_change() }} = 'close'),
    closed_there AS (
        SELECT alert_id
        FROM tailrace.alert_actions
        WHERE alert_id IN closed
        GROUP BY alert_id
        HAVING argMaxIf(alert_actions.channel, at, action = 'close') = {channel:String}),
    least({longest_retry:UInt32}, {first_retry:UInt32} * pow(2, last_attempt - 1))
        * (0.75 + cityHash64(alert_id, last_attempt) % 1000 / 2000) AS retry_seconds
SELECT
    alert_id,
    last_attempt * (last_outcome = 'failed') + 1 AS attempt,
    if(last_outcome = 'failed', toUnixTimestamp(now()) - toUnixTimestamp(began_at), 0) AS trying_seconds,
    alert_id IN closed AS is_closed,
    alert_id IN closed_there AS is_closed_there
FROM (
    SELECT alert_id, detected_at, count, silenced, level, rule_id, rule_title
    FROM tailrace.alerts FINAL
    WHERE alert_id IN recent
) AS alerts
LEFT JOIN tried USING (alert_id)
WHERE NOT silenced
    AND has({levels:Array(String)}, level)
    AND (empty({rules:Array(String)}) OR has({rules:Array(String)}, rule_id) OR has({rules:Array(String)}, rule_title))
    AND (NOT is_closed OR ({resolves:UInt8} AND is_open_there AND last_outcome IN ('delivered', 'failed')))
    AND multiIf(
        last_attempt = 0, true,
        last_outcome = 'failed', last_at <= now64(6) - toIntervalMillisecond(toInt64(1000 * retry_seconds)),
        is_closed OR last_outcome = 'resolved', true,
        alerts.count > last_count AND last_at <= now64(6) - toIntervalSecond({repeat:UInt32}))
ORDER BY attempt, detected_at, alert_id
LIMIT {most:UInt32}
