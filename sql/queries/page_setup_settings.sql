-- Settings, state of auditing, and data directory of each server, from its last successful snapshots.
-- Parameters: instance (empty: all).
SELECT instance, kind, key, attributes
FROM tailrace.server_facts_current
WHERE (kind = 'settings' OR kind = 'audit' AND key = 'auditing' OR kind = 'server')
    AND ({instance:String} = '' OR instance = {instance:String})
ORDER BY instance, kind, key
