-- Fills subject_vault. An erased name does not return when its subject appears in a log again.
CREATE MATERIALIZED VIEW IF NOT EXISTS tailrace.subject_vault_mv {on_cluster}
TO tailrace.subject_vault
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT pseudonym, kind, wrapped_key, sealed_name
FROM tailrace.subject_arrivals
WHERE pseudonym NOT IN (SELECT JSONExtractString(selector, 'pseudonym') FROM tailrace.legal_hold_actions WHERE action = 'erase')
