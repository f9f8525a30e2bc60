-- Records a reveal of a name in the name of the owner of the token, if the token is valid and has the scope names:reveal.
CREATE MATERIALIZED VIEW IF NOT EXISTS tailrace.name_reveals_mv {on_cluster}
TO tailrace.legal_hold_actions
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    reveal_id AS hold_id,
    'reveal' AS action,
    toJSONString(map('kind', splitByChar('-', pseudonym)[2], 'pseudonym', pseudonym, 'role', valid.its_role, 'token', toString(valid.token_id))) AS selector,
    valid.its_owner AS actor,
    reason,
    account
FROM tailrace.name_reveals
INNER JOIN
(
    SELECT
        token_id,
        anyIf(token_sha256, action = 'create') AS its_sha256,
        anyIf(owner, action = 'create') AS its_owner,
        anyIf(toString(role), action = 'create') AS its_role,
        anyIf(scopes, action = 'create') AS its_scopes,
        maxIf(expires_at, action = 'create') AS ends_at,
        countIf(action = 'revoke') AS revocations
    FROM tailrace.api_token_actions
    GROUP BY token_id
    HAVING revocations = 0 AND ends_at > now() AND has(its_scopes, 'names:reveal')
) AS valid ON valid.its_sha256 = lower(hex(SHA256(token)))
