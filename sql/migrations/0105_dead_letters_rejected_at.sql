-- The time at which the stage rejected the entry. `seen_at` stays, because it is the partition key.
ALTER TABLE tailrace.dead_letters {on_cluster}
    ADD COLUMN IF NOT EXISTS rejected_at DateTime64(6, 'UTC') ALIAS seen_at
