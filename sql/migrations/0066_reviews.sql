-- Who reviewed which period of the logs, and what was found (PCI DSS 10.4.1). Append-only, as alert_actions: neither time
-- nor account can be given. A review that was wrong is corrected by another one that names it.
CREATE TABLE IF NOT EXISTS tailrace.reviews {on_cluster}
(
    review_id    UUID,
    at           DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    actor        String CODEC(ZSTD(1)),
    scope        String CODEC(ZSTD(1)),
    period_from  DateTime('UTC') CODEC(Delta, ZSTD(1)),
    period_to    DateTime('UTC') CODEC(Delta, ZSTD(1)),
    finding      String CODEC(ZSTD(3)),
    corrects     Nullable(UUID) CODEC(ZSTD(1)),
    account      LowCardinality(String) DEFAULT currentUser(),
    CONSTRAINT somebody_did_it CHECK actor != '',
    CONSTRAINT it_has_a_scope CHECK scope != '',
    CONSTRAINT something_was_found CHECK finding != '',
    CONSTRAINT the_period_has_a_length CHECK period_from < period_to
)
ENGINE = {engine:MergeTree}
ORDER BY (at, review_id)
TTL toDateTime(at) + INTERVAL {retention:reviews} DAY
SETTINGS {deduplication_window}
