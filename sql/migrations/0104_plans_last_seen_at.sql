-- The name that goes with first_seen_at, as in fingerprints.
ALTER TABLE tailrace.plans {on_cluster}
    ADD COLUMN IF NOT EXISTS last_seen_at DateTime64(6, 'UTC') ALIAS seen_at
