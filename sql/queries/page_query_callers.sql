-- The origins of one statement: one row per user, client, application and endpoint, by total time; at most 50. `groups` is
-- their number. Application and endpoint come from the comments of the statement and are '' without them.
-- Parameters: from, to, query_ids, cluster, instance.
SELECT
    user, if(address = '', name, address) AS client, application, endpoint,
    sum(part.executions) AS executions, sum(part.total_seconds) AS total_seconds,
    count() OVER () AS groups
FROM (
    SELECT
        toString(user) AS user, toString(client_host) AS name, toString(client_ip) AS address,
        toString(application) AS application, toString(endpoint) AS endpoint,
        sum(weight) AS executions, sum(query_time * weight) AS total_seconds
    FROM tailrace.query_events
    WHERE query_id IN {query_ids:Array(UInt64)}
        AND event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        AND ({cluster:String} = '' OR cluster = {cluster:String})
        AND ({instance:String} = '' OR instance = {instance:String})
    GROUP BY user, name, address, application, endpoint
) AS part
GROUP BY user, client, application, endpoint
ORDER BY total_seconds DESC, user, client, application, endpoint
LIMIT 50
