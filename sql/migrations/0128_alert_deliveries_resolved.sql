-- The outcome `resolved`: the receiver was told that the alert was closed.
ALTER TABLE tailrace.alert_deliveries {on_cluster}
    DROP CONSTRAINT IF EXISTS outcome_is_known,
    ADD CONSTRAINT IF NOT EXISTS outcome_known
        CHECK outcome IN ('begun', 'delivered', 'failed', 'refused', 'given up', 'resolved')
