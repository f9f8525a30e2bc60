-- Users see the name of a constraint in the error of an insert, so it names the column and the condition.
ALTER TABLE tailrace.unmasked_looks {on_cluster}
    DROP CONSTRAINT IF EXISTS somebody_did_it,
    DROP CONSTRAINT IF EXISTS something_was_asked,
    ADD CONSTRAINT IF NOT EXISTS superset_user_not_empty CHECK superset_user != '',
    ADD CONSTRAINT IF NOT EXISTS statement_not_empty CHECK statement != ''
