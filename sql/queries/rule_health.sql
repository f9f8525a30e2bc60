{%- include "parts/alert_state.sql" -%}
-- The health of each active rule, and of each rule that has fired within the last {period:UInt32} seconds: alerts, what
-- they were when they were closed, and the servers whose logs lack something that the rule needs. `tailrace rules health`
-- uses it.
--
-- Suppressed alerts show that a rule works, but nobody sees them: they count as fired and not as alerts. Alerts of
-- canary rules are counted apart. The share of false positives refers to alerts that were closed with a verdict; without
-- one it is unknown (null). `active_since` is the time since when the rule can fire on a server; a rule that could not fire
-- for the whole period is not reported as one that never fired.
WITH
    now64(6, 'UTC') - toIntervalSecond({period:UInt32}) AS since,
    closed AS (
        SELECT alert_id, {{ last_verdict() }} AS verdict
        FROM tailrace.alert_actions
        GROUP BY alert_id
        HAVING {{ last_change() }} = 'close'),
    raised AS (
        SELECT alert_id, rule_id, rule_title, level, event_time, silenced, false AS canary
        FROM tailrace.alerts FINAL
        WHERE event_time >= since
        UNION ALL
        SELECT alert_id, rule_id, rule_title, level, event_time, silenced, true AS canary
        FROM tailrace.canary_alerts FINAL
        WHERE event_time >= since),
    fired AS (
        SELECT
            rule_id,
            argMax(rule_title, event_time) AS title,
            argMax(level, event_time) AS fired_level,
            count() AS fired_count,
            countIf(NOT canary AND NOT silenced) AS alert_count,
            countIf(canary) AS canary_count,
            countIf(NOT canary AND verdict != '') AS judged_count,
            countIf(NOT canary AND verdict = 'false positive') AS false_count,
            countIf(NOT canary AND verdict = 'benign') AS benign_count
        FROM raised
        LEFT JOIN closed USING (alert_id)
        GROUP BY rule_id),
    latest AS (
        SELECT rule_id, max(alerts.event_time) AS last_alert
        FROM tailrace.alerts
        GROUP BY rule_id),
    covered AS (
        SELECT
            rule_id,
            any(rule_title) AS title,
            any(level) AS rule_level,
            max(has(tags, 'tailrace.canary')) AS is_canary,
            count() AS server_count,
            countIf(can_fire) AS able_count,
            minIf(changed_at, can_fire) AS able_since,
            arraySort(groupUniqArrayArrayIf(
                arrayConcat(missing_fields, arrayMap(name -> concat('class ', name), missing_classes)),
                NOT can_fire)) AS lacks
        FROM tailrace.rule_coverage FINAL
        WHERE active AND source = ''
        GROUP BY rule_id),
    sum(alert_count) OVER () AS all_alerts,
    if(judged_count = 0, NULL, false_count / judged_count) AS false_share
SELECT
    if(covered.rule_id = '', fired.rule_id, covered.rule_id) AS rule,
    if(covered.title = '', fired.title, covered.title) AS rule_title,
    if(covered.rule_level = '', fired.fired_level, covered.rule_level) AS level,
    is_canary,
    alert_count,
    canary_count,
    if(all_alerts = 0, NULL, alert_count / all_alerts) AS share,
    judged_count,
    false_count,
    benign_count,
    false_share,
    server_count,
    able_count,
    lacks AS missing,
    if(able_count = 0, NULL, toDateTime(able_since, 'UTC')) AS active_since,
    if(last_alert = 0, NULL, toDateTime(last_alert, 'UTC')) AS last_alert_at,
    arrayFilter(name -> name != '', [
        if(server_count > 0 AND able_count = 0 AND fired_count = 0, 'cannot fire', ''),
        if(able_count > 0 AND able_since <= since AND fired_count = 0, 'never fired', ''),
        if(alert_count >= {at_least:UInt32} AND alert_count / all_alerts >= {share:Float64}, 'fires often', ''),
        if(judged_count >= {judged:UInt32} AND false_share >= {false_share:Float64}, 'false positives', '')
    ]) AS findings
FROM covered
FULL OUTER JOIN fired ON fired.rule_id = covered.rule_id
LEFT JOIN latest ON latest.rule_id = if(covered.rule_id = '', fired.rule_id, covered.rule_id)
ORDER BY length(findings) DESC, alert_count DESC, rule_title, rule
