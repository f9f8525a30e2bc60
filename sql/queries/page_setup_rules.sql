-- Whether each active rule can fire on a server, based on all its logs, as reported by the detect job. `fires_on` are the
-- logs of any server that are sufficient for the rule: one of them would help where it cannot fire.
-- Parameters: instance (empty: all).
WITH known AS (
    SELECT instance, source, rule_id, rule_title, level, can_fire, reason, missing_fields, missing_classes
    FROM tailrace.rule_coverage FINAL
    WHERE active
)
SELECT
    known.instance AS instance, known.rule_id AS rule_id, rule_title, level, can_fire, reason, missing_fields,
    missing_classes, fires_on
FROM known
LEFT JOIN (
    SELECT rule_id, arraySort(groupUniqArrayIf(toString(source), can_fire)) AS fires_on
    FROM known
    WHERE source != ''
    GROUP BY rule_id
) AS logs ON logs.rule_id = known.rule_id
WHERE source = '' AND ({instance:String} = '' OR known.instance = {instance:String})
ORDER BY instance, indexOf(['informational', 'low', 'medium', 'high', 'critical'], level) DESC, rule_title
