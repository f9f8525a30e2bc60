    lost_files AS (
        -- All files with a lost byte range, for parts/lost_ranges.sql: the primary key of the ledger begins with these columns.
        SELECT instance, source, log, generation FROM tailrace.ledger WHERE kind = 'GAP'
        GROUP BY instance, source, log, generation
    ),
