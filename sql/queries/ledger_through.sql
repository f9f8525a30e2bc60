-- The last checkpoint with complete postings. The blocks of one checkpoint are posted one after the other, so while
-- rows arrive, rows of the newest checkpoint may be in one table and not yet in another. They are excluded until no row
-- has arrived for three seconds.
WITH greatest(
    (SELECT max(after_checkpoint) FROM tailrace.ledger),
    (SELECT max(after_checkpoint) FROM tailrace.receipts)) AS newest
SELECT toInt64(newest) - (max(ingested_at) > now() - INTERVAL 3 SECOND) AS through
FROM tailrace.ledger
WHERE after_checkpoint = newest
