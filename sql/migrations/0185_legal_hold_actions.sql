-- Legal holds: one row when a hold is placed, when its release is requested, and when another person confirms it. Append-only, as
-- alert_actions. Without a TTL: a hold ends by its release only. `ingested_at` and `event_time` are for the transparency log.
CREATE TABLE IF NOT EXISTS tailrace.legal_hold_actions {on_cluster}
(
    hold_id      UUID,
    at           DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    action       LowCardinality(String),
    case_name    String CODEC(ZSTD(1)),
    selector     String CODEC(ZSTD(1)),
    actor        String CODEC(ZSTD(1)),
    reason       String CODEC(ZSTD(3)),
    account      LowCardinality(String) DEFAULT currentUser(),
    ingested_at  DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1)),
    event_time   DateTime64(6, 'UTC') ALIAS at,
    CONSTRAINT action_is_known CHECK action IN ('place', 'request_release', 'confirm_release'),
    CONSTRAINT actor_not_empty CHECK trimBoth(actor) != '',
    CONSTRAINT reason_not_empty CHECK trimBoth(reason) != '',
    CONSTRAINT placed_hold_is_complete CHECK action != 'place' OR (trimBoth(case_name) != '' AND selector != '')
)
ENGINE = {engine:MergeTree}
ORDER BY (hold_id, at)
SETTINGS {deduplication_window}
