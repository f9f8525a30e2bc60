"""Loads a materialized view again after `ALTER TABLE … MODIFY QUERY`.

The table of a view recognizes a repeated block by a token that contains the view's identity. In ClickHouse
26.7 the identity of a changed view is another one until the server loads the view from disk. Blocks from
before the next restart would count twice if the job repeats them after it.
"""

import re

from tailrace.migrations.migration_files import Migration
from tailrace.migrations.servers import Servers

_CHANGED = re.compile(r"ALTER TABLE tailrace\.(\w+)\b[^(]*\bMODIFY QUERY\b")


def changed_view(migration: Migration) -> str:
    """Returns the name of the view whose query the migration changes; empty if it changes none."""
    found = _CHANGED.match(migration.statement)
    return found[1] if found else ""


def load(servers: Servers, view: str) -> None:
    """Loads a view that an interrupted migration has left detached; a loaded one stays as it is."""
    on_cluster, database = servers.dialect.on_cluster(), servers.dialect.database
    for server in servers.all:
        servers.execute_on(server, f"ATTACH TABLE IF NOT EXISTS {database}.{view} {on_cluster}")


def load_again(servers: Servers, view: str) -> None:
    """Detaches a view and loads it from disk on every server. Nothing may write meanwhile."""
    on_cluster, database = servers.dialect.on_cluster(), servers.dialect.database
    for server in servers.all:
        servers.execute_on(server, f"DETACH TABLE IF EXISTS {database}.{view} {on_cluster} SYNC")
    load(servers, view)
