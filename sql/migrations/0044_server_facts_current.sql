-- What holds now: the facts that the last good look at their kind still saw. With who reads it: no rights of its own.
CREATE VIEW IF NOT EXISTS tailrace.server_facts_current {on_cluster}
SQL SECURITY INVOKER AS
SELECT facts.cluster AS cluster, facts.instance AS instance, facts.kind AS kind, facts.key AS key, facts.since AS since,
       facts.last_seen AS last_seen, facts.attributes AS attributes
FROM tailrace.server_facts AS facts FINAL
INNER JOIN
(
    SELECT instance, kind, max(at) AS looked_at
    FROM tailrace.server_snapshots
    WHERE status = 'ok'
    GROUP BY instance, kind
) AS looks ON looks.instance = facts.instance AND looks.kind = facts.kind
WHERE facts.last_seen >= looks.looked_at
