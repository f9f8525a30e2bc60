-- The time at which the job raised the alert. `seen_at` stays, because it is the name of the field in the topic.
ALTER TABLE tailrace.alerts {on_cluster}
    ADD COLUMN IF NOT EXISTS detected_at DateTime64(6, 'UTC') ALIAS seen_at
