-- What was stored of a statement before the rules of its fingerprint changed stands under another id. A set, because one
-- class of the new rules may have been several: an account in quotes and one without.
ALTER TABLE tailrace.fingerprints {on_cluster}
    ADD COLUMN IF NOT EXISTS previous_query_ids SimpleAggregateFunction(groupUniqArrayArray, Array(UInt64)) AFTER tables_written
