-- What was done on the servers, newest first when asked so: beside an alert, what its user or address did around it.
-- Names of columns are those of the alerts' filters. Statements are masked.
SELECT
    toDateTime(event_time, 'UTC') AS event_time,
    cluster, instance, user,
    ip AS src_ip,
    database,
    if(command = '', event_class, command) AS command,
    object,
    status,
    fingerprint AS statement
FROM tailrace.audit_events
ANY LEFT JOIN (
    SELECT assumeNotNull(query_id) AS query_id, rule_set, fingerprint FROM tailrace.fingerprints
) AS texts USING (query_id, rule_set)
