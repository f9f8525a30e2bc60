-- Who closes an alert can say what it was. Constraints check each insert; rows before this migration have no verdict.
ALTER TABLE tailrace.alert_actions {on_cluster}
    ADD COLUMN IF NOT EXISTS verdict LowCardinality(String) DEFAULT '' AFTER reason,
    ADD CONSTRAINT IF NOT EXISTS verdict_is_known
        CHECK verdict IN ('', 'true positive', 'false positive', 'benign'),
    ADD CONSTRAINT IF NOT EXISTS verdict_only_if_close CHECK verdict = '' OR action = 'close'
