-- Deprecated: the old name of effective_logging_settings. It keeps the privileges of its definer,
-- because on several shards an object must not change from a table over all shards to a view.
CREATE OR REPLACE VIEW tailrace.logging_in_force {on_cluster}
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT cluster, instance, since, until, settings, threshold, sampled, logged
FROM tailrace.effective_logging_settings
COMMENT 'Deprecated: use effective_logging_settings'
