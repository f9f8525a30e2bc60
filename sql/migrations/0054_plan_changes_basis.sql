-- How a change of plan is known, and why nothing is said of it.
ALTER TABLE tailrace.plan_changes {on_cluster}
    ADD COLUMN IF NOT EXISTS reason LowCardinality(String) AFTER verdict,
    ADD COLUMN IF NOT EXISTS basis LowCardinality(String) DEFAULT 'logged' AFTER reason,
    ADD COLUMN IF NOT EXISTS old_plan_seen_at Nullable(DateTime64(6, 'UTC')) AFTER basis
