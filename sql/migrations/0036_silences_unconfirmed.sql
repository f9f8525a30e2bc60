-- A silence that Kafka did not confirm may be in force or not: `unconfirmed` says so, until somebody ends it.
ALTER TABLE tailrace.silences {on_cluster}
    DROP CONSTRAINT IF EXISTS action_is_known,
    ADD CONSTRAINT IF NOT EXISTS action_is_one_of_three CHECK action IN ('begin', 'unconfirmed', 'end')
