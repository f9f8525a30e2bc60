-- What people did with alerts, one row per action; the state of an alert is derived by query and never stored.
-- Append-only: who may insert may neither alter nor delete (sql/users), and neither time nor account can be given,
-- because the server fills them in.
CREATE TABLE IF NOT EXISTS tailrace.alert_actions {on_cluster}
(
    alert_id  UUID,
    at        DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    actor     String CODEC(ZSTD(1)),
    action    LowCardinality(String),
    assignee  String CODEC(ZSTD(1)),
    reason    String CODEC(ZSTD(3)),
    account   LowCardinality(String) DEFAULT currentUser(),
    CONSTRAINT action_is_known CHECK action IN ('ack', 'assign', 'close', 'reopen', 'comment'),
    CONSTRAINT somebody_did_it CHECK actor != '',
    CONSTRAINT it_has_a_reason CHECK reason != '',
    CONSTRAINT only_assign_names_somebody CHECK (assignee != '') = (action = 'assign')
)
ENGINE = {engine:MergeTree}
ORDER BY (alert_id, at)
TTL toDateTime(at) + INTERVAL {retention:alert_actions} DAY
SETTINGS {deduplication_window}
