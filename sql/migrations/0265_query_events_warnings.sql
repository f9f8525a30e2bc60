-- Warnings of Percona Server are no failures, as in StatusOutcome of the detect job: schemas/contracts/outcome.json.
ALTER TABLE tailrace.query_events {on_cluster}
    MODIFY COLUMN has_failed UInt8
        ALIAS ifNull(error_code, 0) NOT IN (0, 1003, 1285, 1287, 1544, 1592, 1612, 1618, 1620, 1681, 1759, 1760, 1831,
            1867, 1868, 3090, 3135, 3719, 3778)
