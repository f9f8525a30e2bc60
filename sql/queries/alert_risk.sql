{%- include "parts/alert_state.sql" -%}
-- What each alert contributes to the risk scores of its user, its client and its instance: points of its level, times a factor
-- of its verdict, times a factor of the data touched, halved for each half-life since its event. docs/ALERTS.md has the
-- numbers. Alerts of the last ten half-lives count. Parameters: now, half_life (hours), kind (user, client, instance; empty:
-- all), name (in any case; empty: all).
--
-- An alert whose entity names an actor counts for this actor only: an alert of password spraying is about a client, and its
-- user is one of many.
WITH
    done AS ({{ last_actions() }}),
    weighed AS (
        SELECT
            alert_id, event_time, rule_id, rule_title, level, instance, entity, user, src_ip, event_ids,
            arrayFilter(
                each -> each.2 != ''
                    AND ({kind:String} = '' OR each.1 = {kind:String})
                    AND ({name:String} = '' OR lowerUTF8(each.2) = lowerUTF8({name:String})),
                [
                ('user', {{ alert_account() }}),
                ('client', {{ alert_client() }}),
                ('instance', toString(instance))]) AS things,
            {{ alert_outcome() }} AS outcome,
            transform(toString(level), ['low', 'medium', 'high', 'critical'], [3, 10, 30, 100], 1) AS level_points,
            transform(outcome, ['true positive', 'false positive', 'benign', 'suppressed'], [2, 0, 0, 0], 1) AS verdict_factor,
            exp2(-greatest(0, dateDiff('second', event_time, {now:DateTime('UTC')})) / ({half_life:UInt32} * 3600)) AS decay
        FROM tailrace.alerts FINAL
        LEFT JOIN done USING (alert_id)
        WHERE event_time >= {now:DateTime('UTC')} - {half_life:UInt32} * 36000 AND verdict_factor > 0
            AND notEmpty(things)),
    evidence AS (
        SELECT alert_id, toUUIDOrZero(arrayJoin(arraySlice(event_ids, -5))) AS event_id
        FROM weighed),
    touched AS (
        SELECT event_id, argMax(data_class, ingested_at) AS classes
        FROM tailrace.data_access
        WHERE event_time >= {now:DateTime('UTC')} - {half_life:UInt32} * 36000 - 86400 AND event_id IN (SELECT event_id FROM evidence)
        GROUP BY event_id),
    sensitive AS (
        SELECT alert_id, groupUniqArrayArray(arrayMap(each -> toString(each), classes)) AS classes
        FROM evidence
        INNER JOIN touched USING (event_id)
        GROUP BY alert_id)
SELECT
    each_thing.1 AS kind,
    each_thing.2 AS name,
    lower(replaceAll(toString(alert_id), '-', '')) AS id,
    toDateTime(weighed.event_time, 'UTC') AS event_time,
    toString(rule_id) AS rule_id, toString(rule_title) AS rule_title, toString(level) AS level, outcome,
    arraySort(arrayDistinct(arrayConcat(
        sensitive.classes,
        mapValues(mapFilter((field, value) -> startsWith(field, 'data_class'), entity))))) AS data_classes,
    level_points, verdict_factor,
    if(empty(data_classes), 1, 2) AS data_factor,
    decay,
    round(level_points * verdict_factor * data_factor * decay, 6) AS points
FROM weighed
LEFT JOIN sensitive ON sensitive.alert_id = weighed.alert_id
ARRAY JOIN things AS each_thing
ORDER BY points DESC, id, kind
