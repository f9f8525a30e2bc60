-- Writes the projections of 0125 into the parts that exist. Until it is done, in the background, queries read the rows.
ALTER TABLE tailrace.query_classes_1h {on_cluster}
    MATERIALIZE PROJECTION by_statement,
    MATERIALIZE PROJECTION totals_by_day
