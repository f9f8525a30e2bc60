-- The statements with a digest of the server. Only the slow log of Percona Server contains it (`Query_digest`, with
-- log_slow_verbosity=query_info).
-- Parameters: from, to, digest (lower case).
SELECT query_id AS id, count() AS entries
FROM tailrace.query_events
WHERE event_time >= {from:DateTime('UTC')} AND event_time < {to:DateTime('UTC')}
    AND lower(attributes['Query_digest']) = {digest:String}
GROUP BY id
ORDER BY entries DESC, id
LIMIT 50
