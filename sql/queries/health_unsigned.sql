-- Logs that their host has signed in the last 7 days, and whose newest file contains read bytes beyond the last signed one: the
-- time since which these bytes are in the ledger, in seconds since 1970 UTC. Lines of a log that was never signed do not count.
-- Parameters: now.
WITH
    signed AS (
        SELECT instance, source, log, argMax(host, signed_at) AS signer
        FROM tailrace.signed_ranges
        WHERE signed_at > toDateTime64({now:DateTime('UTC')}, 6, 'UTC') - INTERVAL 7 DAY AND log != ''
        GROUP BY instance, source, log
    ),
    reached AS (
        SELECT instance, source, log, generation, max(to_offset) AS signed_to
        FROM tailrace.signed_ranges
        WHERE signed_at > toDateTime64({now:DateTime('UTC')}, 6, 'UTC') - INTERVAL 7 DAY
        GROUP BY instance, source, log, generation
    ),
    newest AS (
        SELECT instance, source, log, max(generation) AS generation
        FROM tailrace.ledger
        WHERE kind = 'FRONTIER'
        GROUP BY instance, source, log
    )
SELECT ledger.instance AS instance, ledger.source AS source, any(signed.signer) AS host, toUnixTimestamp(min(ledger.at)) AS since
FROM tailrace.ledger
INNER JOIN newest USING (instance, source, log, generation)
INNER JOIN signed USING (instance, source, log)
LEFT JOIN reached USING (instance, source, log, generation)
WHERE ledger.kind = 'FRONTIER' AND ledger.to_offset > reached.signed_to
GROUP BY instance, source
