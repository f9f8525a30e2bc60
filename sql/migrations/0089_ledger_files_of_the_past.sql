-- Writes the projection of 0088 into the parts that exist.
ALTER TABLE tailrace.ledger {on_cluster}
    MATERIALIZE PROJECTION files_by_day
