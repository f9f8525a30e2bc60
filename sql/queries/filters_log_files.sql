-- Filter values of the dashboards about the ledger, from the projection files_by_day.
SELECT cluster, instance, source FROM tailrace.ledger
GROUP BY cluster, instance, source
