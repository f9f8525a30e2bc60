-- The statements that an instance spent most time on in the last hour, one sample each: what EXPLAIN is run for. Of a
-- statement that runs in many databases, the one that is kept to (`kept`), as long as it ran there within a day; else the
-- one with the most time: plans of different databases cannot be compared. The collector's own statements have its mark.
SELECT
    leftPad(hex(query_id), 16, '0') AS query_id,
    sample.1 AS database,
    sample.2 AS statement
FROM
(
    SELECT
        query_id,
        argMax(
            tuple(database, statement),
            tuple(
                {kept:Map(String, String)}[leftPad(hex(query_id), 16, '0')] = database
                    AND database != '' AND event_time > now() - INTERVAL 1 DAY,
                load,
                event_time
            )
        ) AS sample
    FROM tailrace.query_samples
    LEFT JOIN
    (
        SELECT query_id, database, sum(query_time * weight) AS load
        FROM tailrace.query_events
        WHERE instance = {instance:String} AND event_time > now() - INTERVAL 1 HOUR
        GROUP BY query_id, database
    ) AS loads_by_database USING (query_id, database)
    WHERE instance = {instance:String} AND NOT startsWith(statement, '/* tailrace */')
    GROUP BY query_id
) AS samples
INNER JOIN
(
    SELECT query_id, sum(query_time * weight) AS load
    FROM tailrace.query_events
    WHERE instance = {instance:String} AND event_time > now() - INTERVAL 1 HOUR
    GROUP BY query_id
) AS loads USING (query_id)
ORDER BY load DESC
LIMIT {limit:UInt32}
