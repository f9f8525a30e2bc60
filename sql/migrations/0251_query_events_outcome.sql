-- The outcome of an entry of a slow log, as StatusOutcome of the detect job: schemas/contracts/outcome.json. Percona Server logs the
-- last condition of a statement, which may be a note: then the statement did not fail. Most servers log no code: unknown.
ALTER TABLE tailrace.query_events {on_cluster}
    ADD COLUMN IF NOT EXISTS has_failed UInt8
        ALIAS ifNull(error_code, 0) NOT IN (0, 1003, 1287, 1681, 1831, 3090, 3135, 3719, 3778),
    ADD COLUMN IF NOT EXISTS event_outcome String
        ALIAS multiIf(error_code IS NULL, 'unknown', has_failed, 'failure', 'success')
