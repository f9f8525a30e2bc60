-- The history of silences: one row when one begins, one when somebody ends it before its time. What the detect job
-- obeys is the topic tailrace.rules; this says who wanted what, and why. Append-only, as alert_actions.
CREATE TABLE IF NOT EXISTS tailrace.silences {on_cluster}
(
    silence_id  UUID,
    at          DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    action      LowCardinality(String),
    rule        String CODEC(ZSTD(1)),
    entity      Map(String, String) CODEC(ZSTD(1)),
    until       DateTime('UTC') CODEC(Delta, ZSTD(1)),
    actor       String CODEC(ZSTD(1)),
    reason      String CODEC(ZSTD(3)),
    account     LowCardinality(String) DEFAULT currentUser(),
    CONSTRAINT action_is_known CHECK action IN ('begin', 'end'),
    CONSTRAINT somebody_did_it CHECK actor != '',
    CONSTRAINT it_has_a_reason CHECK reason != ''
)
ENGINE = {engine:MergeTree}
ORDER BY (silence_id, at)
TTL toDateTime(at) + INTERVAL {retention:silences} DAY
SETTINGS {deduplication_window}
