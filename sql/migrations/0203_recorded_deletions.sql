-- Deletions from the archive and rewinds are recorded beside the legal holds: append-only, without a TTL, and in the transparency
-- log. Then hold_id is the id of the operation, and selector contains in JSON what was deleted.
ALTER TABLE tailrace.legal_hold_actions {on_cluster}
    DROP CONSTRAINT IF EXISTS action_is_known,
    ADD CONSTRAINT IF NOT EXISTS action_is_recorded
        CHECK action IN ('place', 'request_release', 'confirm_release', 'delete_archive', 'rewind'),
    ADD CONSTRAINT IF NOT EXISTS deletion_names_rows
        CHECK action NOT IN ('delete_archive', 'rewind') OR isValidJSON(selector)
