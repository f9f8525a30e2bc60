{%- include "parts/logins.sql" -%}
-- The accounts that clients tried without success, those that logged in afterwards first: of each client at most 1,000, and `total` is
-- the number of all. `logged_in_at` is the first login from there to the account after its first refused login, `login_server` where, in
-- the session `login_connection`.
-- `unknown_servers` are those of the account's refused logins of which no log of this time contains a successful login.
-- Parameters: clients, from, to.
WITH
    {from:DateTime('UTC')} AS range_start,
    {to:DateTime('UTC')} AS range_end,
    {{ refused_logins() }},
    {{ successful_logins() }},
    tried AS (
        SELECT
            if(has({clients:Array(String)}, src_ip), src_ip, toString(client_host)) AS client, user,
            count() AS refused_attempts, min(event_time) AS first_at, max(event_time) AS last_at,
            groupUniqArray(instance) AS servers, groupUniqArray(src_ip) AS addresses
        FROM refused_logins
        WHERE has({clients:Array(String)}, src_ip) OR has({clients:Array(String)}, toString(client_host))
        GROUP BY client, user),
    accepted AS (
        SELECT user, arraySort(groupArray((event_time, src_ip, instance, cluster, connection_id))) AS logins
        FROM successful_logins
        WHERE has((SELECT groupUniqArrayArray(addresses) FROM tried), src_ip)
        GROUP BY user),
    (SELECT groupUniqArray(instance) FROM successful_logins) AS known_servers
SELECT
    tried.client AS client,
    tried.user AS name,
    refused_attempts,
    toDateTime(first_at, 'UTC') AS first_attempt,
    toDateTime(last_at, 'UTC') AS last_attempt,
    sum(refused_attempts) OVER (PARTITION BY tried.client) AS client_attempts,
    toDateTime(min(first_at) OVER (PARTITION BY tried.client), 'UTC') AS client_first,
    toDateTime(max(last_at) OVER (PARTITION BY tried.client), 'UTC') AS client_last,
    count() OVER (PARTITION BY tried.client) AS total,
    arrayFirst(login -> login.1 > first_at AND has(addresses, login.2), accepted.logins) AS next_login,
    if(next_login.3 = '', NULL, toDateTime(next_login.1, 'UTC')) AS logged_in_at,
    next_login.3 AS login_server, next_login.4 AS login_cluster, next_login.5 AS login_connection,
    arraySort(arrayFilter(server -> NOT has(known_servers, server), servers)) AS unknown_servers
FROM tried
LEFT JOIN accepted ON accepted.user = tried.user
ORDER BY client, logged_in_at IS NULL, first_attempt, name
LIMIT 1000 BY client
