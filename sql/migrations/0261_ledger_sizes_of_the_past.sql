-- Writes the projection of 0260 into the parts that exist.
ALTER TABLE tailrace.ledger {on_cluster}
    MATERIALIZE PROJECTION sizes_by_hour
