"""The DDL on the tables of a statement: rows of page_query_ddl, and the indexes that their texts name.

The texts are fingerprints: literals, such as the length of an index prefix, are masked.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]

_NAME = r"(?:`(?:[^`]|``)+`|[\w$]+)"
_DROPPED = re.compile(rf"\bdrop\s+(?:index|key)\s+(?:if\s+exists\s+)?({_NAME})", re.IGNORECASE)
_CREATED = re.compile(
    rf"(?<!primary )(?<!foreign )\b(?:index|key)\s+(?:if\s+not\s+exists\s+)?(?!using\b|on\b)({_NAME})\s*"
    rf"(?:using\s+\w+\s*)?(?:on\s+{_NAME}(?:\.{_NAME})?\s*)?\(((?:[^()]|\([^()]{{0,200}}\))*)\)",
    re.IGNORECASE,
)
_COLUMN = re.compile(rf"\s*({_NAME})(?:\s+(?:asc|desc))?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Dropped:
    """An index that was dropped and not created since, with its row and its columns; None if unknown."""

    name: str
    row: Row
    columns: list[str] | None


def dropped_names(text: str) -> list[str]:
    return [_plain(name) for name in _DROPPED.findall(text)]


def created(text: str) -> dict[str, list[str] | None]:
    """Returns the indexes that a text creates, with their columns; None for expressions and prefixes."""
    return {_plain(name): _columns(inside) for name, inside in _CREATED.findall(text)}


def dropped_indexes(rows: Sequence[Row], database: str, table: str) -> list[Dropped]:
    """Returns the indexes of a table that are dropped after all rows, the latest first.

    `rows` are the newest first. `database` is '' if it is unknown; then each table with this name counts.
    """
    found: dict[str, Dropped] = {}
    known: dict[str, list[str] | None] = {}
    for row in reversed(rows):
        if not _is_on(row, database, table):
            continue
        for name in dropped_names(row["text"]):
            key = name.lower()
            found.pop(key, None)
            found[key] = Dropped(name, row, known.get(key))
        for name, columns in created(row["text"]).items():
            found.pop(name.lower(), None)
            known[name.lower()] = columns
    return list(reversed(found.values()))


def label(row: Row) -> str:
    """Returns a change in a few words for the charts: `index by_customer dropped`, or `ALTER shop.orders`."""
    dropped, added = dropped_names(row["text"]), created(row["text"])
    if row["verb"] != "CREATE" or not row["text"].lower().startswith("create table"):
        changed = [f"index {name} dropped" for name in dropped if name not in added]
        changed += [f"index {name} created" for name in added]
        if changed:
            return changed[0] + (f" and {len(changed) - 1} more" if len(changed) > 1 else "")
    return f"{row['verb']} {', '.join(row['tables'][:1])}".strip()


def _is_on(row: Row, database: str, table: str) -> bool:
    for name in row["tables"]:
        schema, _, plain = name.replace("`", "").lower().rpartition(".")
        if plain == table.lower() and (
            not database or (schema or row["database"].lower()) == database.lower()
        ):
            return True
    return False


def _columns(inside: str) -> list[str] | None:
    found = [_COLUMN.fullmatch(part) for part in inside.split(",")]
    return [_plain(each[1]) for each in found if each] if all(found) else None


def _plain(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
