-- Which servers and kinds of logs can be picked in the filters of dashboards about the books: from the projection files_by_day.
SELECT cluster, instance, source FROM tailrace.ledger
GROUP BY cluster, instance, source
