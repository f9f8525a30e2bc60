-- Writes the projection of 0262 into the parts that exist.
ALTER TABLE tailrace.ledger {on_cluster}
    MATERIALIZE PROJECTION offsets_by_file
