-- Who has read cardholder data (class pci) in the last 90 days: one row per account and way in, as before. Actions are those of
-- data_access_by_action: an action that several logs record counts once, whenever they arrived.
CREATE OR REPLACE VIEW tailrace.cardholder_data_reads {on_cluster}
SQL SECURITY INVOKER AS
SELECT
    cluster, instance, user, origin, program, access,
    count() AS actions,
    sum(action_rows) AS rows_sent,
    min(action_at) AS first_at,
    max(action_at) AS last_at,
    countIf(refused) AS refused_actions,
    arraySort(groupUniqArrayArray(action_basis)) AS basis,
    arraySort(groupUniqArrayArray(action_tables)) AS tables
FROM
(
    SELECT
        cluster, instance, user,
        if(max(src_ip) != '', max(src_ip), max(host)) AS origin,
        max(data_access.program) AS program,
        if(max(has(data_class_read, 'pci')), 'read', 'may have read') AS access,
        action_id,
        max(ifNull(data_access.rows_sent, 0)) AS action_rows,
        min(event_time) AS action_at,
        max(outcome = 'failure') AS refused,
        groupUniqArrayArray(data_access.basis) AS action_basis,
        groupUniqArrayArray(data_access.tables) AS action_tables
    FROM tailrace.data_access_by_action(
        begin = now('UTC') - INTERVAL 90 DAY, until = now('UTC') + INTERVAL 1 DAY) AS data_access
    WHERE has(data_class_read, 'pci') OR has(data_access.basis, 'unknown')
    GROUP BY cluster, instance, user, action_id
)
GROUP BY cluster, instance, user, origin, program, access
COMMENT 'Who has read cardholder data (class pci) in the last 90 days, and apart who may have read it'
