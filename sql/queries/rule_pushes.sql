-- Pushed rule bundles with their result; the latest accepted one is active. After a crash, the detect job may report a
-- result twice.
SELECT
    toDateTime(rule_pushes.at, 'UTC') AS event_time,
    if(accepted, if(at = max(if(accepted, at, toDateTime64(0, 6, 'UTC'))) OVER (), 'active', 'accepted'), 'refused') AS outcome,
    if(at_start, 'start of the job', 'push') AS trigger,
    pushed_by, rules AS rule_count, detectors AS detector_count, classes AS class_count, message
FROM (
    SELECT DISTINCT push_id, at, accepted, pushed_by, rules, detectors, classes, message, at_start FROM tailrace.rule_pushes
) AS rule_pushes
