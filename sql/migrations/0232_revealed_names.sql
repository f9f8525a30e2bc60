-- The encrypted names whose reveal was recorded in the last five minutes by name_reveals_mv; an erased one is empty. It has the
-- privileges of its definer: the role `reveal` reads names of recorded reveals only, and not the vault. The account `auditor`
-- appends to the record by itself, without a token.
CREATE VIEW IF NOT EXISTS tailrace.revealed_names {on_cluster}
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    reveals.reveal_id AS reveal_id,
    reveals.actor AS actor,
    reveals.role AS role,
    reveals.pseudonym AS pseudonym,
    reveals.pseudonym IN (
        SELECT JSONExtractString(selector, 'pseudonym') FROM tailrace.legal_hold_actions WHERE action = 'erase') AS is_erased,
    if(is_erased, '', vault.wrapped) AS wrapped_key,
    if(is_erased, '', vault.sealed) AS sealed_name
FROM
(
    SELECT hold_id AS reveal_id, actor, JSONExtractString(selector, 'role') AS role, JSONExtractString(selector, 'pseudonym') AS pseudonym
    FROM tailrace.legal_hold_actions
    WHERE action = 'reveal' AND at > now64(6, 'UTC') - INTERVAL 5 MINUTE AND account != 'auditor'
) AS reveals
LEFT JOIN
(
    SELECT pseudonym, argMax(wrapped_key, seen_at) AS wrapped, argMax(sealed_name, seen_at) AS sealed
    FROM tailrace.subject_vault
    WHERE pseudonym IN (
        SELECT JSONExtractString(selector, 'pseudonym') FROM tailrace.legal_hold_actions
        WHERE action = 'reveal' AND at > now64(6, 'UTC') - INTERVAL 5 MINUTE)
    GROUP BY pseudonym
) AS vault ON vault.pseudonym = reveals.pseudonym
COMMENT 'Encrypted names of reveals that were recorded in the last five minutes'
