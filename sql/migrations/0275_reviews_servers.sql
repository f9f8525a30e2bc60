-- The servers that a review states, for the days that it counts for: `covers` is 'all servers', 'named servers' (those of
-- `servers`), or empty for a review without this statement, such as an older one: its scope is free text and is not judged.
ALTER TABLE tailrace.reviews {on_cluster}
    ADD COLUMN IF NOT EXISTS covers LowCardinality(String),
    ADD COLUMN IF NOT EXISTS servers Array(String) CODEC(ZSTD(1)),
    ADD CONSTRAINT IF NOT EXISTS covers_known CHECK covers IN ('', 'all servers', 'named servers'),
    ADD CONSTRAINT IF NOT EXISTS servers_as_covers_says CHECK notEmpty(servers) = (covers = 'named servers')
