-- The name that goes with first_seen_at. `seen_at` stays, because it is the name of the field in the topic.
ALTER TABLE tailrace.fingerprints {on_cluster}
    ADD COLUMN IF NOT EXISTS last_seen_at DateTime64(6, 'UTC') ALIAS seen_at
