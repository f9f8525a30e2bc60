-- The list of the heaviest statements reads query_classes_1d. Inserts and merges no longer write this projection.
ALTER TABLE tailrace.query_classes_1h {on_cluster}
    DROP PROJECTION IF EXISTS totals_by_day
