-- Metrics of ClickHouse with the names of its own Prometheus endpoint, which the embedded engine lacks, as it lacks
-- system.asynchronous_metrics. The metric by which ClickHouse refuses inserts is therefore computed here.
SELECT name, value, help, type
FROM (
    SELECT concat('ClickHouseMetrics_', metric) AS name, toFloat64(value) AS value, description AS help, 'gauge' AS type
    FROM system.metrics
    UNION ALL
    SELECT concat('ClickHouseProfileEvents_', event), toFloat64(value), description, 'counter'
    FROM system.events
    UNION ALL
    SELECT 'ClickHouseAsyncMetrics_MaxPartCountForPartition', toFloat64(max(parts)), 'Parts of the fullest partition.', 'gauge'
    FROM (SELECT count() AS parts FROM system.parts WHERE active GROUP BY database, table, partition_id))
ORDER BY name
LIMIT 1 BY name
SETTINGS system_events_show_zero_values = 1
FORMAT Prometheus
