-- The codes of 0265 for the sums of days. A test compares the expressions.
ALTER TABLE tailrace.entities_1d {on_cluster}
    MODIFY COLUMN has_failed UInt8
        ALIAS if(event_table = 'query_events',
            error_code NOT IN (0, 1003, 1285, 1287, 1544, 1592, 1612, 1618, 1620, 1681, 1759, 1760, 1831,
                1867, 1868, 3090, 3135, 3719, 3778),
            error_code != 0 OR event_class = 'connection' AND startsWith(lower(command), 'failed'))
