-- How the event accessed the tables. `mode` stays, because it is the name of the field in the topic.
ALTER TABLE tailrace.data_access {on_cluster}
    ADD COLUMN IF NOT EXISTS access_mode LowCardinality(String) ALIAS mode
