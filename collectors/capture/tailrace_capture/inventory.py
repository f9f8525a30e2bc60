"""Reads product and version of the server, and the sizes of its tables."""

import os
from collections.abc import Iterator
from pathlib import Path

from tailrace_capture.facts import Fact, text
from tailrace_capture.server import Server

MAX_TABLES = 1000
SYSTEM_SCHEMAS = ("mysql", "information_schema", "performance_schema", "sys")

_VARIABLES = (
    *("server_uuid", "server_uid", "server_id", "hostname", "port", "socket", "datadir"),
    *("version_compile_os", "version_compile_machine", "basedir"),
)


def read(server: Server) -> list[Fact]:
    """Returns one fact with product, version and host. Raises ServerError."""
    variables = server.variables()
    attributes = {name: variables[name] for name in _VARIABLES if name in variables}
    product = server.product
    return [
        Fact(
            "server",
            {
                **attributes,
                "product": product.name,
                "version": product.text,
                "version_comment": product.comment,
                **_device(variables),
            },
        )
    ]


def _device(variables: dict[str, str]) -> dict[str, str]:
    """Returns the device of the data directory, if it is on this machine and readable."""
    directory = Path(variables.get("datadir", ""))
    if variables.get("hostname") != os.uname().nodename or not directory.is_absolute():
        return {}
    mount = next((mount for mount in _mounts() if directory.is_relative_to(mount[1])), None)
    return {"datadir_device": mount[0], "datadir_mount": mount[1]} if mount else {}


def _mounts() -> Iterator[tuple[str, str]]:
    """Yields device and mount point of each mount, the longest paths first (Linux's /proc/mounts)."""
    try:
        lines = Path("/proc/self/mounts").read_text().splitlines()
    except OSError:
        return
    mounts = [
        (fields[0], fields[1].replace("\\040", " ")) for line in lines if len(fields := line.split()) > 1
    ]
    yield from sorted(mounts, key=lambda mount: -len(mount[1]))


def read_table_sizes(server: Server) -> list[Fact]:
    """Returns the largest tables, up to MAX_TABLES, and one more if there are more. Sizes in bytes, rows as
    estimated by the engine. Raises ServerError."""
    hidden = ", ".join(f"'{schema}'" for schema in SYSTEM_SCHEMAS)
    rows = server.rows(
        "SELECT TABLE_SCHEMA AS db, TABLE_NAME AS name, ENGINE AS engine, TABLE_ROWS AS row_count, "
        "DATA_LENGTH AS data_bytes, INDEX_LENGTH AS index_bytes, DATA_FREE AS free_bytes "
        f"FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA NOT IN ({hidden}) "
        "ORDER BY COALESCE(DATA_LENGTH, 0) + COALESCE(INDEX_LENGTH, 0) DESC, TABLE_SCHEMA, TABLE_NAME "
        f"LIMIT {MAX_TABLES + 1}"
    )
    return [
        Fact(
            f"{text(row['db'])}.{text(row['name'])}",
            {
                "database": text(row["db"]),
                "table": text(row["name"]),
                "engine": text(row["engine"]),
                "rows": text(row["row_count"] or 0),
                "data_bytes": text(row["data_bytes"] or 0),
                "index_bytes": text(row["index_bytes"] or 0),
                "free_bytes": text(row["free_bytes"] or 0),
            },
        )
        for row in rows
    ]
