-- The tables of one statement as its entries name them, in one row; at most 1,000 of each. Its fingerprint has them in lower
-- case and without numbers. Parameters: from, to, query_ids, cluster, instance.
SELECT
    arraySort(groupUniqArrayArray(1000)(tables_read)) AS reads,
    arraySort(groupUniqArrayArray(1000)(tables_written)) AS writes
FROM tailrace.query_events
WHERE query_id IN {query_ids:Array(UInt64)}
    AND event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
    AND ({cluster:String} = '' OR cluster = {cluster:String})
    AND ({instance:String} = '' OR instance = {instance:String})
