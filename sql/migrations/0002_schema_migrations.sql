-- What has been applied, with the SHA-256 of each file as it is in the repository (before templating): a file
-- that changed after it was applied is refused, because no one could tell any more what a database holds.
CREATE TABLE IF NOT EXISTS tailrace.schema_migrations {on_cluster}
(
    number      UInt32,
    name        String,
    sha256      FixedString(64),
    applied_at  DateTime DEFAULT now(),
    seconds     Float64,
    version     String
)
ENGINE = {engine:ReplacingMergeTree(applied_at)}
ORDER BY number
SETTINGS {deduplication_window}
