-- Who exported evidence, of which period, and the SHA-256 of its manifest: the row is written before the bundle appears
-- under its name. Append-only, as alert_actions.
CREATE TABLE IF NOT EXISTS tailrace.evidence_exports {on_cluster}
(
    export_id        UUID,
    at               DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    actor            String CODEC(ZSTD(1)),
    framework        LowCardinality(String),
    period_from      DateTime('UTC') CODEC(Delta, ZSTD(1)),
    period_to        DateTime('UTC') CODEC(Delta, ZSTD(1)),
    manifest_sha256  String CODEC(ZSTD(1)),
    key_fingerprint  LowCardinality(String),
    file             String CODEC(ZSTD(1)),
    files            UInt32,
    rows             UInt64,
    version          LowCardinality(String),
    account          LowCardinality(String) DEFAULT currentUser(),
    CONSTRAINT somebody_did_it CHECK actor != '',
    CONSTRAINT the_sum_is_one CHECK length(manifest_sha256) = 64
)
ENGINE = {engine:MergeTree}
ORDER BY (at, export_id)
TTL toDateTime(at) + INTERVAL {retention:evidence_exports} DAY
SETTINGS {deduplication_window}
