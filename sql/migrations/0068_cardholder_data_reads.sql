-- An auditor's question: who has read cardholder data (class pci) in the last 90 days? One row per account and way in.
-- `access` is `read`, or `may have read`: the events do not tell everything that they touched (docs/DATA-CLASSES.md). One
-- action that several logs tell counts once. With the rights of who reads it.
CREATE VIEW IF NOT EXISTS tailrace.cardholder_data_reads {on_cluster}
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
    FROM tailrace.data_access FINAL
    WHERE event_time >= now('UTC') - INTERVAL 90 DAY AND (has(data_class_read, 'pci') OR has(data_access.basis, 'unknown'))
    GROUP BY cluster, instance, user, action_id
)
GROUP BY cluster, instance, user, origin, program, access
COMMENT 'Who has read cardholder data (class pci) in the last 90 days, and apart who may have read it'
