-- What can be picked in the filters of Accounts: of all accounts that a look ever found, and every state that one may have.
SELECT
    cluster, instance, attributes['user'] AS user,
    arrayJoin(['used', 'not for 90 days', 'never used', 'not known', 'role']) AS state
FROM tailrace.server_facts
WHERE kind = 'accounts'
