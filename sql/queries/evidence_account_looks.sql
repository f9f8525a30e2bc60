-- Snapshots of accounts and privileges by server and kind of fact in the period, with the number of results. A kind
-- that was denied is unknown, not empty. A server that is not listed was not queried.
-- Parameters: from, to.
SELECT instance, kind AS what, count() AS looks, countIf(status = 'ok') AS answered, countIf(status = 'denied') AS denied,
    countIf(status NOT IN ('ok', 'denied')) AS failed, max(truncated) AS not_all_of_it,
    maxOrNullIf(toDateTime(at, 'UTC'), status = 'ok') AS last_answer, argMaxIf(error, at, status != 'ok') AS last_error
FROM tailrace.server_snapshots FINAL
WHERE at >= {from:DateTime('UTC')} AND at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC') AND part <= 1
    AND (kind IN ('accounts', 'roles', 'audit') OR startsWith(kind, 'grants'))
GROUP BY instance, kind
ORDER BY instance, what
