-- Writes the projections of 0280 into the parts that exist.
ALTER TABLE tailrace.ledger {on_cluster}
    MATERIALIZE PROJECTION minutes_by_hour,
    MATERIALIZE PROJECTION minutes_by_day
