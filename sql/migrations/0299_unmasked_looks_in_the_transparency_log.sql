-- The transparency log records who looked at unmasked statements: it reads tables by these two times. The server
-- fills in `at` at the insert, so both are computed from it and need no storage.
ALTER TABLE tailrace.unmasked_looks {on_cluster}
    ADD COLUMN IF NOT EXISTS event_time DateTime64(6, 'UTC') ALIAS at,
    ADD COLUMN IF NOT EXISTS ingested_at DateTime('UTC') ALIAS toDateTime(at, 'UTC')
