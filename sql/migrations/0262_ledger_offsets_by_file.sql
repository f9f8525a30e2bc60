-- How far each file was read, and its gaps with their sign, negative if the range was shipped again: coverage_1m reads both at once.
ALTER TABLE tailrace.ledger {on_cluster}
    ADD PROJECTION IF NOT EXISTS offsets_by_file
    (
        SELECT cluster, instance, source, log, generation, maxIf(to_offset, kind = 'FRONTIER'),
            groupArrayIf((toInt64(from_offset), toInt64(to_offset), toInt64(sign(bytes))), kind = 'GAP')
        GROUP BY cluster, instance, source, log, generation
    )
