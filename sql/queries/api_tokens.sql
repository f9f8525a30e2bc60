-- Tokens of the API without their hashes, the newest first: state, and time of the last request.
WITH
    used AS (
        SELECT token_id, max(at) AS last_at, count() AS number
        FROM tailrace.api_requests
        GROUP BY token_id)
SELECT
    lower(replaceAll(toString(token_id), '-', '')) AS id,
    anyIf(owner, action = 'create') AS owner,
    anyIf(role, action = 'create') AS role,
    anyIf(scopes, action = 'create') AS scopes,
    minIf(at, action = 'create') AS created_at,
    anyIf(actor, action = 'create') AS created_by,
    anyIf(reason, action = 'create') AS created_because,
    maxIf(expires_at, action = 'create') AS expires_at,
    multiIf(countIf(action = 'revoke') > 0, 'revoked', expires_at <= now('UTC'), 'expired', 'valid') AS state,
    if(state = 'revoked', anyIf(actor, action = 'revoke'), '') AS revoked_by,
    if(any(number) = 0, NULL, any(last_at)) AS last_used_at,
    any(number) AS requests
FROM tailrace.api_token_actions
LEFT JOIN used USING (token_id)
GROUP BY token_id
ORDER BY created_at DESC, id
