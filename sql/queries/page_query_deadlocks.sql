-- Deadlocks in which one statement waited, newest first: both transactions with their user, client and connection, and which of
-- them the server rolled back ('1' or '2', '' if the report does not say so). `other_id` is the query id of the other statement,
-- 0 if it is unknown. A deadlock that is also in an InnoDB monitor is returned once.
-- Parameters: from, to, query_ids, cluster, instance.
WITH
    if(kind = 'deadlock', 'transaction_', 'deadlock_transaction_') AS its,
    reinterpretAsUInt64(reverse(unhex(details[concat(its, '1_query_id')]))) AS first_id,
    reinterpretAsUInt64(reverse(unhex(details[concat(its, '2_query_id')]))) AS second_id
SELECT
    toDateTime(event_time, 'UTC') AS at, toString(instance) AS server,
    details[if(kind = 'deadlock', 'rolled_back', 'deadlock_rolled_back')] AS rolled_back,
    details[concat(its, '1_user')] AS first_user, details[concat(its, '1_host')] AS first_client,
    details[concat(its, '2_user')] AS second_user, details[concat(its, '2_host')] AS second_client,
    details[concat(its, '1_waits_for')] AS first_waits_for, details[concat(its, '2_waits_for')] AS second_waits_for,
    first_id IN {query_ids:Array(UInt64)} AS is_first,
    if(is_first, second_id, first_id) AS other_id,
    details[concat(its, if(is_first, '2', '1'), '_statement')] AS other_text
FROM tailrace.error_events
WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
    AND (kind = 'deadlock' OR kind = 'innodb_monitor' AND details['deadlock_rolled_back'] != '')
    AND (first_id IN {query_ids:Array(UInt64)} OR second_id IN {query_ids:Array(UInt64)})
    AND ({cluster:String} = '' OR cluster = {cluster:String})
    AND ({instance:String} = '' OR instance = {instance:String})
ORDER BY event_time DESC, log, generation, entry_offset
LIMIT 1 BY
    instance, details[concat(its, '2_id')],
    if(details[concat(its, '1_id')] = '', concat(kind, toString(event_time)), details[concat(its, '1_id')])
LIMIT 200
