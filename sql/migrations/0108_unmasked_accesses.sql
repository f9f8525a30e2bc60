-- Accesses to unmasked statements under their standard name. It is a view: a running Superset inserts into
-- unmasked_looks, and an insert into a view fails. The sorting key of the table contains look_id, so neither can be renamed.
CREATE VIEW IF NOT EXISTS tailrace.unmasked_accesses {on_cluster}
SQL SECURITY INVOKER AS
SELECT look_id AS access_id, at, step, superset_user, dashboard, chart, clickhouse_user, statement, query_ids, rows, account
FROM tailrace.unmasked_looks
COMMENT 'Accesses to unmasked statements: a row before a statement is sent, and one before its rows are returned'
