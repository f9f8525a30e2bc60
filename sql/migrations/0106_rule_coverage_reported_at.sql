-- Whether the rule is active, and the time of the report. The old columns stay, because `told_at` is the version of a row.
ALTER TABLE tailrace.rule_coverage {on_cluster}
    ADD COLUMN IF NOT EXISTS active Bool ALIAS in_force,
    ADD COLUMN IF NOT EXISTS reported_at DateTime64(6, 'UTC') ALIAS told_at
