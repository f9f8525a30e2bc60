-- Owners and roles of the tokens that may schedule searches now. A token whose creation was deleted is unknown.
SELECT DISTINCT owner, role
FROM
(
    SELECT
        token_id,
        anyIf(owner, action = 'create') AS owner,
        anyIf(role, action = 'create') AS role,
        anyIf(scopes, action = 'create') AS its_scopes,
        maxIf(expires_at, action = 'create') AS ends_at,
        countIf(action = 'revoke') AS revocations
    FROM tailrace.api_token_actions
    GROUP BY token_id
)
WHERE revocations = 0 AND ends_at > now() AND has(its_scopes, 'schedules:write')
ORDER BY owner, role
