-- The names of users and clients that rows contain as pseudonyms, each encrypted with a key of its own (docs/ERASURE.md). `tailrace
-- erase` deletes a name with its key. No audience reads this table, and a backup of an installation leaves it out. A merge or an
-- erasure removes the old files at once, instead of after eight minutes.
CREATE TABLE IF NOT EXISTS tailrace.subject_vault {on_cluster}
(
    pseudonym    String,
    kind         LowCardinality(String),
    wrapped_key  String CODEC(NONE),
    sealed_name  String CODEC(NONE),
    seen_at      DateTime('UTC') DEFAULT now()
)
ENGINE = {engine:ReplacingMergeTree(seen_at)}
ORDER BY pseudonym
TTL seen_at + INTERVAL {retention:subject_vault} DAY
SETTINGS {deduplication_window}, old_parts_lifetime = 1
