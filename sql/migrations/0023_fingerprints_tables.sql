-- The tables of a class, as its fingerprint names them: who asks which classes touch a table needs no event. An aggregate
-- of arrays takes no LowCardinality.
ALTER TABLE tailrace.fingerprints {on_cluster}
    ADD COLUMN IF NOT EXISTS tables_read SimpleAggregateFunction(anyLast, Array(String)) AFTER verb,
    ADD COLUMN IF NOT EXISTS tables_written SimpleAggregateFunction(anyLast, Array(String)) AFTER tables_read
