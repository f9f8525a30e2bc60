{%- include "parts/time_range.sql" -%}
{#- The reason of the detect job in a few words, with one line for each log: schemas/contracts/coverage_reason.json. -#}
{%- macro by_log(reason) -%}
    replaceRegexpAll(replaceRegexpAll(replaceRegexpAll(replaceRegexpAll(replaceRegexpAll(replaceAll({{ reason }},
        'it matches other events; this log contains only events of the class ', 'only events of the class '),
        'it needs (.*?), which no event of this log has', 'lacks \\1'),
        '(^|; |: )(audit|general): ', '\\1\\2 log: '),
        '(^|; |: )errorlog: ', '\\1error log: '),
        '(^|; |: )slowlog: ', '\\1slow query log: '),
        '(?:; |(:) )(audit|error|general|slow query) log: ', '\\1\n\\2 log: ')
{%- endmacro -%}
-- Whether each active rule can fire on each server, as reported by the detect job (tailrace.rule_coverage): based on
-- all logs of the server, with the logs that are sufficient alone. The coverage is current, regardless of the time
-- range; alerts are counted within the range, including suppressed ones, because they show that the rule works.
-- `fired_anywhere` covers all stored alerts of all servers. A rule with several tactics has one row, so that it counts
-- once.
WITH
    {{ shown_range(30) }},
    arrayMap(
        tag -> initcap(replaceAll(replaceAll(substring(tag, 8), '_', ' '), '-', ' ')),
        arrayFilter(tag -> match(tag, '^attack\\.[a-z][a-z_-]+$'), tags)) AS tactics,
    fired AS (
        SELECT rule_id, instance,
            countIf(alerts.event_time >= range_start AND alerts.event_time < toDateTime64(range_end, 6, 'UTC')) AS in_range,
            max(alerts.event_time) AS last
        FROM tailrace.alerts FINAL
        GROUP BY rule_id, instance
    ),
    fired_anywhere AS (SELECT rule_id, max(last) AS last FROM fired GROUP BY rule_id),
    alone AS (
        SELECT instance, rule_id, groupArrayIf(toString(source), can_fire) AS logs
        FROM tailrace.rule_coverage FINAL
        WHERE active AND source != ''
        GROUP BY instance, rule_id
    )
SELECT
    rule_coverage.cluster AS cluster,
    rule_coverage.instance AS instance,
    rule_coverage.rule_id AS rule_id,
    rule_title,
    level,
    indexOf(['informational', 'low', 'medium', 'high', 'critical'], level) AS level_rank,
    if(empty(tactics), '(none)', arrayStringConcat(tactics, ', ')) AS tactic,
    if(can_fire, 'yes', 'no') AS fires,
    multiIf(NOT can_fire, '', empty(alone.logs), 'several together', arrayStringConcat(arraySort(alone.logs), ', ')) AS fires_on,
    multiIf(
        can_fire, '',
        empty(missing_classes) AND empty(missing_fields), 'another kind of log',
        arrayStringConcat(arrayConcat(
            arrayMap(name -> concat('events of the class ', name), missing_classes),
            arrayMap(name -> toString(name), missing_fields)), ', ')) AS missing,
    {{ by_log('rule_coverage.reason') }} AS reason,
    toDateTime(changed_at, 'UTC') AS changed,
    fired.in_range AS alert_count,
    if(fired.last = 0, NULL, toDateTime(fired.last, 'UTC')) AS last_alert,
    if(fired_anywhere.last = 0, NULL, toDateTime(fired_anywhere.last, 'UTC')) AS last_alert_anywhere
FROM (SELECT * FROM tailrace.rule_coverage FINAL WHERE active AND source = '') AS rule_coverage
LEFT JOIN alone ON alone.instance = rule_coverage.instance AND alone.rule_id = rule_coverage.rule_id
LEFT JOIN fired ON fired.instance = rule_coverage.instance AND fired.rule_id = rule_coverage.rule_id
LEFT JOIN fired_anywhere ON fired_anywhere.rule_id = rule_coverage.rule_id
