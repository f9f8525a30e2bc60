-- How far each file was read, and which files there are: asked of all postings that there ever were, answered from a
-- row per file, kind and day. The books' sums are not in it: they leave out the checkpoint that is being posted.
ALTER TABLE tailrace.ledger {on_cluster}
    ADD PROJECTION IF NOT EXISTS files_by_day
    (
        SELECT cluster, instance, source, log, generation, inode, kind, count(), min(at), max(at), max(size), max(to_offset)
        GROUP BY cluster, instance, source, log, generation, inode, kind
    )
