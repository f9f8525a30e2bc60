-- Triage actions on the alerts of the period: one row per action, with the reason.
-- Parameters: from, to.
SELECT actions.at AS at, actor, action, assignee AS assigned_to, reason, verdict,
    rule_title AS rule, instance,
    lower(replaceAll(toString(actions.alert_id), '-', '')) AS alert
FROM tailrace.alert_actions AS actions
INNER JOIN (SELECT alert_id, rule_title, instance FROM tailrace.alerts FINAL
    WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')) AS raised
    ON raised.alert_id = actions.alert_id
ORDER BY at, alert
