-- Searches that are saved without a schedule (an interval of 0), shared with the audience, paused, or sent only if enough events
-- match. The table keeps its name.
ALTER TABLE tailrace.scheduled_searches {on_cluster}
    ADD COLUMN IF NOT EXISTS shared Bool AFTER channels,
    ADD COLUMN IF NOT EXISTS paused Bool AFTER shared,
    ADD COLUMN IF NOT EXISTS min_events UInt64 DEFAULT 1 CODEC(T64, ZSTD(1)) AFTER paused,
    DROP CONSTRAINT IF EXISTS saved_search_is_complete,
    ADD CONSTRAINT IF NOT EXISTS schedule_is_complete CHECK action != 'save'
        OR (role != '' AND search != '' AND (every_seconds >= 300) = notEmpty(channels) AND (every_seconds >= 300 OR every_seconds = 0))
