-- Days that the period touches and that signed reviews do not cover completely; PCI DSS 10.4.1 requires a daily review.
-- A day is reviewed if the valid reviews cover it from 00:00 to 24:00 UTC on each server that was known by its end, and that no
-- host had removed from its list of logs before it. Several
-- reviews together may do so. A review covers nothing after its own signature, so that a day is never reviewed before its end.
-- A review that another one corrects is not valid; the correcting review counts instead. A review that states no servers
-- (an older one, with free text only) is not judged: it never makes a day reviewed.
-- `state` is `not reviewed`, `not reviewed yet` (the day is not over), `scope not judged` (only such reviews touch the day), or
-- `partly reviewed`. Days before the first known server are not listed: there was nothing to review. If no server was known by the
-- end of the period, each day is listed with the state `no server known`. `minutes_on_all_servers` (of 1440) are those on the server with the fewest; `complete_servers` are those
-- that are covered all day. `reviewed_parts` lists the parts of at most ten reviews.
-- Parameters: from, to.
WITH
    toDate({from:DateTime('UTC')}) AS first_day,
    toDate({to:DateTime('UTC')} - INTERVAL 1 SECOND) AS last_day,
    (SELECT groupUniqArray(assumeNotNull(corrects)) FROM tailrace.reviews WHERE corrects IS NOT NULL) AS corrected,
{%- include "parts/known_servers.sql" -%}
    ,
    days AS (
        SELECT first_day + number AS day, toDateTime(day, 'UTC') AS day_from, toDateTime(day + 1, 'UTC') AS day_to
        FROM numbers(toUInt64(last_day - first_day + 1))
    ),
    parts AS (
        SELECT covers, servers, greatest(first_day, toDate(period_from)) + arrayJoin(range(toUInt64(greatest(0,
                1 + toInt64(least(last_day, toDate(covered_to - INTERVAL 1 SECOND)))
                - toInt64(greatest(first_day, toDate(period_from))))))) AS day,
            greatest(period_from, toDateTime(day, 'UTC')) AS part_from, least(covered_to, toDateTime(day + 1, 'UTC')) AS part_to
        FROM (
            SELECT covers, servers, period_from, least(period_to, toDateTime(at, 'UTC')) AS covered_to
            FROM tailrace.reviews
            WHERE NOT has(corrected, review_id) AND period_from < covered_to)
    ),
    by_day AS (
        SELECT day, intervalLengthSumIf(part_from, part_to, covers = 'all servers') AS seconds_of_all,
            countIf(covers != '') AS judged_reviews, count() AS touching_reviews,
            arrayStringConcat(arraySlice(arraySort(groupUniqArray(concat(
                formatDateTime(part_from, '%H:%i'), ' to ', if(part_to = toDateTime(day + 1, 'UTC'), '24:00', formatDateTime(part_to, '%H:%i')),
                ' ', multiIf(covers = '', 'scope not judged', covers = 'all servers', covers, arrayStringConcat(servers, ', '))))),
                1, 10), '; ') AS reviewed_parts
        FROM parts
        GROUP BY day
    ),
    by_server AS (
        SELECT day, instance, intervalLengthSum(part_from, part_to) AS seconds
        FROM parts
        INNER JOIN (SELECT DISTINCT day, arrayJoin(servers) AS instance FROM parts) AS named USING (day)
        WHERE covers = 'all servers' OR has(servers, instance)
        GROUP BY day, instance
    ),
    by_known_server AS (
        SELECT expected.day AS day, count() AS servers_of_day,
            min(greatest(by_day.seconds_of_all, by_server.seconds)) AS least_seconds,
            countIf(greatest(by_day.seconds_of_all, by_server.seconds) = 86400) AS servers_all_day
        FROM (SELECT day, instance FROM days CROSS JOIN known_servers
            WHERE known_since < day_to AND (isNull(known_until) OR known_until >= day_from)) AS expected
        LEFT JOIN by_day ON by_day.day = expected.day
        LEFT JOIN by_server ON by_server.day = expected.day AND by_server.instance = expected.instance
        GROUP BY expected.day
    )
SELECT days.day AS day_without_review,
    multiIf(judged_reviews > 0, 'partly reviewed', touching_reviews > 0, 'scope not judged',
        servers_of_day = 0, 'no server known', day_to > now('UTC'), 'not reviewed yet', 'not reviewed') AS state,
    intDiv(if(servers_of_day = 0, seconds_of_all, least_seconds), 60) AS minutes_on_all_servers,
    servers_all_day AS complete_servers, servers_of_day AS known_servers, reviewed_parts
FROM days
LEFT JOIN by_day ON by_day.day = days.day
LEFT JOIN by_known_server ON by_known_server.day = days.day
WHERE minutes_on_all_servers < 1440 AND (servers_of_day > 0 OR (SELECT count() FROM known_servers) = 0)
ORDER BY day_without_review
