-- Filter values of the dashboards about slow logs, of all time, from the projection executions_by_day.
SELECT
    cluster, instance,
    if(found.database = '', '(none)', found.database) AS database,
    if(found.user = '', '(none)', found.user) AS user
FROM (
    SELECT cluster, instance, database, user FROM tailrace.query_events
    GROUP BY cluster, instance, database, user
) AS found
