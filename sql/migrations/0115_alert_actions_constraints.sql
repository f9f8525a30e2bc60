-- Users see the name of a constraint in the error of an insert, so it names the column and the condition.
ALTER TABLE tailrace.alert_actions {on_cluster}
    DROP CONSTRAINT IF EXISTS somebody_did_it,
    DROP CONSTRAINT IF EXISTS it_has_a_reason,
    DROP CONSTRAINT IF EXISTS only_assign_names_somebody,
    ADD CONSTRAINT IF NOT EXISTS actor_not_empty CHECK actor != '',
    ADD CONSTRAINT IF NOT EXISTS reason_not_empty CHECK reason != '',
    ADD CONSTRAINT IF NOT EXISTS assignee_if_and_only_if_assign CHECK (assignee != '') = (action = 'assign')
