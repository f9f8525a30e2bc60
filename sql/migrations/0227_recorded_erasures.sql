-- Erasures and reveals of names are recorded beside the legal holds, as 0203 does for deletions. Then hold_id is the id of the
-- operation, and selector contains the pseudonym in JSON, never the name.
ALTER TABLE tailrace.legal_hold_actions {on_cluster}
    DROP CONSTRAINT IF EXISTS action_is_recorded,
    ADD CONSTRAINT IF NOT EXISTS action_is_recorded_here
        CHECK action IN ('place', 'request_release', 'confirm_release', 'delete_archive', 'rewind', 'erase', 'reveal'),
    ADD CONSTRAINT IF NOT EXISTS subject_is_a_pseudonym
        CHECK action NOT IN ('erase', 'reveal') OR match(JSONExtractString(selector, 'pseudonym'), '^p1-(user|client)-[0-9a-f]+$')
