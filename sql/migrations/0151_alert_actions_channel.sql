-- An action that the receiver of a channel reported: its channel, to which a close is not sent back, and its request,
-- which is recorded once even if it arrives twice. Both are empty for actions of users of Tailrace.
ALTER TABLE tailrace.alert_actions {on_cluster}
    ADD COLUMN IF NOT EXISTS channel LowCardinality(String) DEFAULT '' AFTER verdict,
    ADD COLUMN IF NOT EXISTS request String DEFAULT '' CODEC(ZSTD(1)) AFTER channel
