-- A schedule that does not run because its owner no longer has the account or the role, with the reason. It is paused, too.
-- needs_account: false for a search that an operator saved with the command, whose owner is a login name without an account. The owner of
-- an earlier row is not known to be one, so it needs an account.
ALTER TABLE tailrace.scheduled_searches {on_cluster}
    ADD COLUMN IF NOT EXISTS suspended String CODEC(ZSTD(1)) AFTER min_events,
    ADD COLUMN IF NOT EXISTS needs_account Bool DEFAULT true AFTER suspended
