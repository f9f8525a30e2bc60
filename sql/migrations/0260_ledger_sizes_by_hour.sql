-- In which minutes a census listed each file, and how long it was: coverage_1m reads a row per file and hour instead of all
-- censuses. Element 1 of the array is minute 0: the size + 1 in bytes, 0 without a census. A file without a generation that is
-- not empty has a row per minute, because its inode can get to the next file within the hour.
ALTER TABLE tailrace.ledger {on_cluster}
    ADD PROJECTION IF NOT EXISTS sizes_by_hour
    (
        SELECT cluster, instance, source, log, generation, inode, kind, toStartOfHour(at),
            if(generation = 0 AND size > 0, toMinute(at), 60),
            maxForEach(arrayPushBack(arrayWithConstant(toMinute(at), toUInt64(0)), size + 1)), max(at)
        GROUP BY cluster, instance, source, log, generation, inode, kind, toStartOfHour(at),
            if(generation = 0 AND size > 0, toMinute(at), 60)
    )
