-- The settings of the slow query log of each server, from its last snapshot: for audiences that do not see the other
-- settings and the accounts.
-- Parameters: now; instance (empty: all).
SELECT instance, settings
FROM tailrace.effective_logging_settings
WHERE until > {now:DateTime('UTC')} AND ({instance:String} = '' OR instance = {instance:String})
ORDER BY instance
