-- Filter values of Accounts: the accounts of all snapshots, and all states.
SELECT
    cluster, instance, attributes['user'] AS user,
    arrayJoin(['used', 'not for 90 days', 'never used', 'not known', 'role']) AS state
FROM tailrace.server_facts
WHERE kind = 'accounts'
