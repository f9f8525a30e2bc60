-- The token of the API with a SHA-256, and whether it is revoked; no row for an unknown one. Parameters: hash.
SELECT
    toString(token_id) AS token_id, anyIf(owner, action = 'create') AS owner, anyIf(role, action = 'create') AS role,
    anyIf(scopes, action = 'create') AS scopes, maxIf(expires_at, action = 'create') AS expires_at,
    countIf(action = 'revoke') > 0 AS is_revoked, minIf(at, action = 'revoke') AS revoked_at
FROM tailrace.api_token_actions
WHERE api_token_actions.token_id GLOBAL IN (
    SELECT token_id FROM tailrace.api_token_actions WHERE action = 'create' AND token_sha256 = {hash:String})
GROUP BY api_token_actions.token_id
