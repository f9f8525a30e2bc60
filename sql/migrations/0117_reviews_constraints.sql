-- Users see the name of a constraint in the error of an insert, so it names the column and the condition.
ALTER TABLE tailrace.reviews {on_cluster}
    DROP CONSTRAINT IF EXISTS somebody_did_it,
    DROP CONSTRAINT IF EXISTS it_has_a_scope,
    DROP CONSTRAINT IF EXISTS something_was_found,
    DROP CONSTRAINT IF EXISTS the_period_has_a_length,
    ADD CONSTRAINT IF NOT EXISTS actor_not_empty CHECK actor != '',
    ADD CONSTRAINT IF NOT EXISTS scope_not_empty CHECK scope != '',
    ADD CONSTRAINT IF NOT EXISTS finding_not_empty CHECK finding != '',
    ADD CONSTRAINT IF NOT EXISTS period_not_empty CHECK period_from < period_to
