-- Writes the projection of 0091 into the parts that exist.
ALTER TABLE tailrace.ledger {on_cluster}
    MATERIALIZE PROJECTION sums_by_day
