{%- include "parts/alert_state.sql" -%}
-- All stored alerts of rules that have alerts which were closed as benign or as false positive since a time, by entity and
-- by what they turned out to be. `outcome` is a verdict, `closed` (without a verdict) or `open` (not closed). Proposals of
-- exceptions are computed from them. Parameters: rule (id; empty: all rules), since.
WITH
    done AS ({{ last_actions(further="maxIf(at, action = 'close') AS closed_at") }}),
    judged AS (
        SELECT
            alert_id, rule_id, rule_title, rule_file, entity, entity_key, event_time, alerts.count AS matched,
            multiIf(last_change != 'close', 'open', last_verdict = '', 'closed', toString(last_verdict)) AS outcome,
            outcome IN ('benign', 'false positive') AND closed_at >= {since:DateTime('UTC')} AS supports
        FROM tailrace.alerts FINAL
        LEFT JOIN done USING (alert_id)
        WHERE {rule:String} = '' OR rule_id = {rule:String})
SELECT
    toString(rule_id) AS rule_id,
    argMax(toString(rule_title), event_time) AS rule_title,
    argMax(toString(rule_file), event_time) AS rule_file,
    any(entity) AS entity,
    outcome,
    count() AS alerts,
    countIf(supports) AS supporting,
    sum(matched) AS matches,
    arrayMap(
        each -> lower(replaceAll(toString(each), '-', '')),
        arraySlice(arraySort(groupArray(alert_id)), 1, 200)) AS ids
FROM judged
WHERE rule_id IN (SELECT rule_id FROM judged WHERE supports)
GROUP BY rule_id, entity_key, outcome
ORDER BY rule_id, entity_key, outcome
