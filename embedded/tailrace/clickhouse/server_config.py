"""Generates config.xml and users.xml of a ClickHouse server from the templates of sql/users."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from tailrace.clickhouse import shards
from tailrace.clickhouse.row_policies import Restriction
from tailrace.config.resources import ROOT
from tailrace.config.template import fill
from tailrace.credentials.names import password_name

CONFIG_TEMPLATE = ROOT / "sql" / "users" / "config.xml.template"
USERS_TEMPLATE = ROOT / "sql" / "users" / "users.xml.template"

MEBIBYTE = 1024 * 1024
PASSWORD_HASH = "_PASSWORD_SHA256"
ROWS = "_ROWS"
NETWORKS = "CLIENT_NETWORKS"
LOOPBACK = "127.0.0.1"
MEMORY_SHARES = {
    "ADMIN_MEMORY_BYTES": 0.8,
    "WRITER_MEMORY_BYTES": 0.5,
    "READER_MEMORY_BYTES": 0.5,
    "READER_SPILL_BYTES": 0.2,
}
"""The share of the server's memory that one query of a profile may use."""


def configuration_text(listeners: str, users: Path, memory: int) -> str:
    """Returns the server's configuration.

    `listeners` is XML with the ports and data directories; `users` is the path of the file with users_text on
    the server; `memory` is the server's memory limit in MiB.
    """
    values = {"LISTENERS": listeners, "USERS_XML": users, "SERVER_MEMORY_BYTES": memory * MEBIBYTE}
    return fill(CONFIG_TEMPLATE, values)


def users_text(
    secret: Callable[[str], str],
    memory: int,
    networks: Iterable[str],
    restrictions: Mapping[str, Restriction],
    sharded: bool = False,
) -> str:
    """Returns users, roles and limits of ClickHouse; `sharded` if it has more than one shard.

    `secret` returns a password by its name, such as `clickhouse-writer`; `memory` is the server's memory
    limit in MiB; users connect from `networks`, addresses or CIDR.
    """

    def value(name: str) -> object:
        if name == NETWORKS:
            return "".join(f"<ip>{escape(network)}</ip>" for network in networks)
        if name.endswith(ROWS):
            return row_policies(name.removesuffix(ROWS).lower(), restrictions)
        if name.endswith(PASSWORD_HASH):
            password = secret(password_name(name.removesuffix(PASSWORD_HASH).lower()))
            return hashlib.sha256(password.encode()).hexdigest()
        return int(memory * MEBIBYTE * MEMORY_SHARES[name])

    text = fill(USERS_TEMPLATE, value)
    return shards.users_of_shards(text) if sharded else text


def row_policies(user: str, restrictions: Mapping[str, Restriction]) -> str:
    """Returns the element `databases` of a user in the template: a filter for each table."""
    audience = user.removeprefix("reader_")
    if audience not in restrictions:
        return ""
    filters = restrictions[audience].table_filters(audience)
    tables = "".join(
        f"<{table}><filter>{escape(condition)}</filter></{table}>" for table, condition in filters.items()
    )
    return f"<databases><tailrace>{tables}</tailrace></databases>"
