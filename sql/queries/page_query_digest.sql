-- The statements with a digest of the server. The slow log of Percona Server contains it (`Query_digest`, with
-- log_slow_verbosity=query_info), and Performance Schema with a sample of the statement (`digests: true`, or Grafana Alloy
-- without redaction).
-- Parameters: from, to, digest (lower case).
SELECT id, sum(count) AS entries
FROM
(
    SELECT query_id AS id, count() AS count
    FROM tailrace.query_events
    WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        AND lower(attributes['Query_digest']) = {digest:String}
    GROUP BY id
    UNION ALL
    SELECT query_id AS id, count() AS count
    FROM tailrace.digest_samples FINAL
    WHERE at >= {from:DateTime('UTC')} AND at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        AND digest = {digest:String} AND query_id > 0
    GROUP BY id
    UNION ALL
    SELECT query_id AS id, count() AS count
    FROM tailrace.performance_schema_records FINAL
    WHERE at >= {from:DateTime('UTC')} AND at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        AND digest = {digest:String} AND query_id > 0
    GROUP BY id
)
GROUP BY id
ORDER BY entries DESC, id
LIMIT 50
