{%- include "parts/alert_state.sql" -%}
-- Alerts of each rule in a time range by what they turned out to be, and of each day if `by_day` is 1 (else `day` is the
-- begin of the epoch). Parameters: rule (id; empty: all rules), from, to, by_day.
WITH
    done AS ({{ last_actions() }})
SELECT
    toString(rule_id) AS rule_id,
    argMax(toString(rule_title), rule_alerts.event_time) AS title,
    argMax(toString(level), rule_alerts.event_time) AS latest_level,
    if({by_day:UInt8} = 1, toStartOfDay(toDateTime(rule_alerts.event_time, 'UTC')), toDateTime(0, 'UTC')) AS day,
    count() AS alerts,
    countIf(outcome = 'open') AS open_alerts,
    countIf(outcome = 'acknowledged') AS acknowledged,
    countIf(outcome = 'true positive') AS true_positives,
    countIf(outcome = 'false positive') AS false_positives,
    countIf(outcome = 'benign') AS benign,
    countIf(outcome = 'closed') AS closed,
    countIf(outcome = 'suppressed') AS suppressed,
    max(toDateTime(rule_alerts.event_time, 'UTC')) AS last_alert
FROM (
    SELECT
        alert_id, alerts.rule_id AS rule_id, rule_title, level, event_time,
        {{ alert_outcome() }} AS outcome
    FROM tailrace.alerts FINAL
    LEFT JOIN done USING (alert_id)
    WHERE alerts.event_time >= {from:DateTime('UTC')} AND alerts.event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        AND ({rule:String} = '' OR alerts.rule_id = {rule:String})
) AS rule_alerts
GROUP BY rule_id, day
ORDER BY rule_id, day
