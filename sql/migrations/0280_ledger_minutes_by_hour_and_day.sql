-- What the coverage needs of most files: in which minutes a census listed them, as bits of a number, and the greatest size. Only a
-- file with unread bytes or gaps needs its sizes: minute and size of each census in one number, 6 and 58 bits, because an
-- array of numbers is read faster than the states of sizes_by_hour (0260).
-- `minutes_by_day` has the minutes in which anything of a log arrived, bits for each hour of a day: logs_of_period reads a row
-- per log and day.
ALTER TABLE tailrace.ledger {on_cluster}
    ADD PROJECTION IF NOT EXISTS minutes_by_hour
    (
        SELECT cluster, instance, source, log, generation, inode, toStartOfHour(at),
            if(generation = 0 AND size > 0, toMinute(at), 60),
            maxIf(at, kind = 'CENSUS'), maxIf(size, kind = 'CENSUS'),
            groupBitOrIf(bitShiftLeft(toUInt64(1), toMinute(at)), kind = 'CENSUS'),
            groupArrayIf(bitOr(bitShiftLeft(toUInt64(toMinute(at)), 58), size), kind = 'CENSUS')
        GROUP BY cluster, instance, source, log, generation, inode, toStartOfHour(at),
            if(generation = 0 AND size > 0, toMinute(at), 60)
    ),
    ADD PROJECTION IF NOT EXISTS minutes_by_day
    (
        SELECT cluster, instance, source, log, toDate(at),
            maxIf(at, kind IN ('CENSUS', 'FRONTIER')),
            groupBitOrForEachIf(
                arrayPushBack(arrayWithConstant(toHour(at), toUInt64(0)), bitShiftLeft(toUInt64(1), toMinute(at))),
                kind IN ('CENSUS', 'FRONTIER'))
        GROUP BY cluster, instance, source, log, toDate(at)
    )
