-- Tokens of the API: one row when a token is created, and one when it is revoked. Append-only, as alert_actions: a token never
-- changes, and neither time nor account can be given. Of the token itself only the SHA-256 is stored. A token whose row was
-- deleted is unknown, so it is refused.
CREATE TABLE IF NOT EXISTS tailrace.api_token_actions {on_cluster}
(
    token_id      UUID,
    at            DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    action        LowCardinality(String),
    token_sha256  String CODEC(ZSTD(1)),
    owner         String CODEC(ZSTD(1)),
    role          LowCardinality(String),
    scopes        Array(LowCardinality(String)),
    expires_at    DateTime('UTC') CODEC(Delta, ZSTD(1)),
    actor         String CODEC(ZSTD(1)),
    reason        String CODEC(ZSTD(3)),
    account       LowCardinality(String) DEFAULT currentUser(),
    CONSTRAINT action_is_known CHECK action IN ('create', 'revoke'),
    CONSTRAINT actor_not_empty CHECK actor != '',
    CONSTRAINT created_token_is_complete CHECK action != 'create'
        OR (length(token_sha256) = 64 AND owner != '' AND role != '' AND notEmpty(scopes) AND expires_at > toDateTime(at, 'UTC'))
)
ENGINE = {engine:MergeTree}
ORDER BY (token_id, at)
TTL toDateTime(at) + INTERVAL {retention:api_token_actions} DAY
SETTINGS {deduplication_window}
