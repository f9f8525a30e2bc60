{%- set chosen -%}
    source IN ('audit', 'general', 'slowlog', 'errorlog')
        AND (empty({clusters:Array(String)}) OR cluster IN {clusters:Array(String)})
        AND (empty({servers:Array(String)}) OR instance IN {servers:Array(String)})
{%- endset -%}
-- The kinds of logs of each server: the day of the first record or census, and whether the time range has a day with records, or
-- censuses. What a search does not find in a kind of log is unknown before that day, and for a server without the log.
-- Parameters: from, to, clusters and servers (empty for all).
SELECT instance, source, min(first_of_each) AS first_day, max(has_range) AS is_known
FROM (
    SELECT toString(instance) AS instance, toString(source) AS source, min(record_day) AS first_of_each,
        max(record_day >= toDate({from:DateTime('UTC')}) AND record_day <= toDate({to:DateTime('UTC')} - INTERVAL 1 SECOND))
            AS has_range
    FROM tailrace.log_days
    WHERE {{ chosen }}
    GROUP BY instance, source
    UNION ALL
    SELECT toString(instance), toString(source), toDate(min(at)),
        min(at) < {to:DateTime('UTC')} AND max(at) >= {from:DateTime('UTC')}
    FROM tailrace.ledger
    WHERE kind = 'CENSUS' AND {{ chosen }}
    GROUP BY instance, source)
GROUP BY instance, source
ORDER BY instance, source
