-- Up to which checkpoint the books can be read. The blocks of one checkpoint are posted one after the other, so while
-- rows are coming in those of the newest one may be there in one table and not yet in another: they are left out
-- until nothing has come for three seconds.
WITH greatest(
    (SELECT max(after_checkpoint) FROM tailrace.ledger),
    (SELECT max(after_checkpoint) FROM tailrace.receipts)) AS newest
SELECT toInt64(newest) - (max(ingested_at) > now() - INTERVAL 3 SECOND) AS through
FROM tailrace.ledger
WHERE after_checkpoint = newest
