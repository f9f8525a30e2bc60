-- The ranges before the last one of a record that was not compared, with their lengths and hashes in base64: a record may
-- sign several ranges that follow each other. A compared record has a row for each run of ranges with the same result.
ALTER TABLE tailrace.signed_ranges {on_cluster}
    ADD COLUMN IF NOT EXISTS earlier_ranges String CODEC(ZSTD(3)) AFTER verified_at
