-- The page of one statement reads its hours of months. The rows of a day are few granules in the order of servers, and each
-- granule contains all statements: one statement read every row. by_statement has them in the order of statements.
-- totals_by_day answers which statements are heaviest from a row per statement, server and day.
ALTER TABLE tailrace.query_classes_1h {on_cluster}
    ADD PROJECTION IF NOT EXISTS by_statement
    (
        SELECT * ORDER BY query_id, hour
    ) WITH SETTINGS (index_granularity = 4096),
    ADD PROJECTION IF NOT EXISTS totals_by_day
    (
        SELECT cluster, instance, query_id, toDate(hour), sum(count), sum(weight), sum(query_time), max(hour)
        GROUP BY cluster, instance, query_id, toDate(hour)
    )
