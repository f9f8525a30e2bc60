-- The active retention policy and the age of the oldest rows, by server. `reaches` states whether twelve months are
-- stored, or why not: the oldest record may be the first that ever existed.
-- Parameters: to; audit_days, error_days, access_days: the policy (sql/retention.yaml).
SELECT what, policy_days, instance, first_record, last_record,
    dateDiff('day', first_record, {to:DateTime('UTC')}) AS days_back,
    multiIf(policy_days < 365, 'the policy keeps less than twelve months',
        days_back >= 365, 'twelve months are there', 'no older record: logs began later, or older ones are gone') AS reaches
FROM (
    SELECT 'audit and general logs' AS what, {audit_days:UInt32} AS policy_days, instance,
        toDateTime(min(event_time), 'UTC') AS first_record, toDateTime(max(event_time), 'UTC') AS last_record
    FROM tailrace.audit_events WHERE event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC') GROUP BY instance
    UNION ALL
    SELECT 'error logs' AS what, {error_days:UInt32} AS policy_days, instance,
        toDateTime(min(event_time), 'UTC') AS first_record, toDateTime(max(event_time), 'UTC') AS last_record
    FROM tailrace.error_events WHERE event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC') GROUP BY instance
    UNION ALL
    SELECT 'access to classes of data' AS what, {access_days:UInt32} AS policy_days, instance,
        toDateTime(min(event_time), 'UTC') AS first_record, toDateTime(max(event_time), 'UTC') AS last_record
    FROM tailrace.data_access WHERE event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC') GROUP BY instance)
ORDER BY what, instance
