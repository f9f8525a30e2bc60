-- The page of a statement looks for its digests by query id. Samples are sorted by server and digest, so a granule has few digests:
-- the filter skips the others. Parts that exist already are read whole until they are merged.
ALTER TABLE tailrace.digest_samples {on_cluster}
    ADD INDEX IF NOT EXISTS searched_query query_id TYPE bloom_filter(0.01) GRANULARITY 1
