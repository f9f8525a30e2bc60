-- The transparency log records which days were archived: it reads tables by these two times. The server fills in `at` at
-- the insert, so both are computed from it and need no storage.
ALTER TABLE tailrace.archived_days {on_cluster}
    MODIFY COLUMN at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC'),
    ADD COLUMN IF NOT EXISTS event_time DateTime64(6, 'UTC') ALIAS at,
    ADD COLUMN IF NOT EXISTS ingested_at DateTime('UTC') ALIAS toDateTime(at, 'UTC')
