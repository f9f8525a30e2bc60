-- The token of the API with a SHA-256, and whether it is revoked; no row for an unknown one. Parameters: hash.
WITH
    created AS (
        SELECT token_id, owner, role, scopes, expires_at FROM tailrace.api_token_actions
        WHERE action = 'create' AND token_sha256 = {hash:String}
        LIMIT 1)
SELECT
    toString(created.token_id) AS token_id, any(created.owner) AS owner, any(created.role) AS role, any(created.scopes) AS scopes,
    any(created.expires_at) AS expires_at, countIf(action = 'revoke') > 0 AS is_revoked, minIf(at, action = 'revoke') AS revoked_at
FROM created
INNER JOIN tailrace.api_token_actions AS actions ON actions.token_id = created.token_id
GROUP BY created.token_id
