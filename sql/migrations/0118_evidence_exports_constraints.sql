-- Users see the name of a constraint in the error of an insert, so it names the column and the condition.
ALTER TABLE tailrace.evidence_exports {on_cluster}
    DROP CONSTRAINT IF EXISTS somebody_did_it,
    DROP CONSTRAINT IF EXISTS the_sum_is_one,
    ADD CONSTRAINT IF NOT EXISTS actor_not_empty CHECK actor != '',
    ADD CONSTRAINT IF NOT EXISTS manifest_sha256_has_64_digits CHECK length(manifest_sha256) = 64
