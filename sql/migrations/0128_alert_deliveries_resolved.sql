-- The outcome `resolved`: the receiver has resolved the alert, because it was closed.
ALTER TABLE tailrace.alert_deliveries {on_cluster}
    DROP CONSTRAINT IF EXISTS outcome_is_known,
    ADD CONSTRAINT IF NOT EXISTS outcome_known
        CHECK outcome IN ('begun', 'delivered', 'failed', 'refused', 'given up', 'resolved')
