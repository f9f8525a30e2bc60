-- Users see the name of a constraint in the error of an insert, so it names the column and the condition.
ALTER TABLE tailrace.silences {on_cluster}
    DROP CONSTRAINT IF EXISTS somebody_did_it,
    DROP CONSTRAINT IF EXISTS it_has_a_reason,
    DROP CONSTRAINT IF EXISTS action_is_one_of_three,
    ADD CONSTRAINT IF NOT EXISTS actor_not_empty CHECK actor != '',
    ADD CONSTRAINT IF NOT EXISTS reason_not_empty CHECK reason != '',
    ADD CONSTRAINT IF NOT EXISTS action_is_known CHECK action IN ('begin', 'unconfirmed', 'end')
