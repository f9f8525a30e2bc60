-- What was posted on each file, by kind, stage, detail and day: the books of all files since they began are asked of
-- every posting that there ever was. Days of which a checkpoint is still being posted are read from their rows.
ALTER TABLE tailrace.ledger {on_cluster}
    ADD PROJECTION IF NOT EXISTS sums_by_day
    (
        SELECT cluster, instance, source, log, generation, inode, kind, stage, detail, toDate(at), sum(count), sum(bytes),
            max((at, size)), max(from_offset), max(to_offset), maxIf(to_offset, bytes > 0), max(after_checkpoint)
        GROUP BY cluster, instance, source, log, generation, inode, kind, stage, detail, toDate(at)
    )
