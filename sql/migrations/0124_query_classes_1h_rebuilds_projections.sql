-- Merges of this table add rows up, so ClickHouse accepts projections of it only if merges make them again.
ALTER TABLE tailrace.query_classes_1h {on_cluster}
    MODIFY SETTING deduplicate_merge_projection_mode = 'rebuild'
