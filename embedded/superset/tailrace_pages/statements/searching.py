"""What a text in the search field can mean, and the statements that it finds.

A text may mean several things at once: `cafe` is a part of a query id, a table and a word. Each meaning
has its own group of results. A pasted statement means itself, see fingerprinting.py; if it is not stored,
the statements that contain it are found, because it can be the beginning of one, and those that are nearest
to it by their tables.
"""

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from tailrace.fingerprint.client import Fingerprint
from tailrace_pages.statements.fingerprinting import Pasted, is_statement
from tailrace_pages.time_range import TimeRange

Rows = Callable[..., list[dict[str, Any]]]
"""Store.rows: the name of a query and its parameters."""

MOST_TEXT = 100_000
"""Characters of a search text: longer statements are rejected rather than cut."""
LARGEST_ID = 2**64 - 1
DIGEST_RANGE = timedelta(days=7)
"""Digests are in the attributes of single events, so that a longer range takes too long."""
_HEX_ID = re.compile(r"(?:0x)?([0-9a-fA-F]{4,16})(?:…|\.\.\.)?")
_DIGEST = re.compile(r"[0-9a-fA-F]{32}|[0-9a-fA-F]{64}")
_NAME = re.compile(r"[\w$`.?-]+")
_DIGITS = re.compile(r"\d[\da-f]*", re.IGNORECASE)

TITLES = {
    "id": "Query id",
    "digest": "Server digest",
    "statement": "The pasted statement",
    "similar": "Statements that differ from the pasted one only in spaces, quotes of names or placeholders",
    "table": "Statements that read or write the table",
    "text": "Statements that contain the text",
    "nearest": "Queries with the same tables and verb",
    "sharing": "Other queries that share a table with it",
}
"""Titles of the groups, in their order."""
BY_LIKENESS = ("nearest", "sharing")
"""Groups that begin with the statements that have the most words in common with the pasted one."""
MOST_NEAREST_TEXT = 16_384
"""Characters of a fingerprint that is compared with others: stored ones are cut at 16 KiB."""


@dataclass(frozen=True)
class Meaning:
    """What a text can mean; empty fields are not looked for."""

    text: str
    prefix: str = ""
    number: int = 0
    digest: str = ""
    tables: list[str] = field(default_factory=list)
    is_statement: bool = False

    def parameters(self) -> dict[str, Any]:
        """Returns the parameters of page_query_search."""
        text = "" if self.digest else self.text
        return {"prefix": self.prefix, "number": self.number, "tables": self.tables, "text": text}

    @property
    def whole_id(self) -> int | None:
        """The query id, if the text is a complete one in hexadecimal digits."""
        return int(self.prefix, 16) if len(self.prefix) == 16 else None


def meaning_of(text: str) -> Meaning:
    """Returns what the text can mean. Statements may end with a semicolon."""
    text = text.strip()
    if is_statement(text):
        return Meaning(text, is_statement=True)
    words = " ".join(text.split())
    hexadecimal = _HEX_ID.fullmatch(words)
    return Meaning(
        words,
        prefix=hexadecimal[1].upper() if hexadecimal else "",
        number=_number(words),
        digest=words.lower() if _DIGEST.fullmatch(words) else "",
        tables=_tables(words) if _NAME.fullmatch(words) else [],
    )


def _number(text: str) -> int:
    """Returns the query id that decimal digits are, or 0. Python converts no more than 4,300 digits."""
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST_ID))
    return int(text) if is_number and int(text) <= LARGEST_ID else 0


def _tables(name: str) -> list[str]:
    """Returns a table name as fingerprints may have it: with its digits, and without them."""
    lower = name.replace("`", "").lower()
    return sorted({lower, _DIGITS.sub("?", lower)})


def found(rows: Rows, meaning: Meaning, span: TimeRange) -> dict[str, list[dict[str, Any]]]:
    """Returns rows with `id`, `query` and `last_seen` by the keys of TITLES; only groups with rows."""
    groups: dict[str, list[dict[str, Any]]] = {name: [] for name in TITLES}
    for row in rows("page_query_search", **meaning.parameters()):
        groups[row["found_by"]].append(row)
    if meaning.digest:
        groups["digest"] = _with_digest(rows, meaning.digest, span)
    return _nonempty(groups)


def found_pasted(rows: Rows, pasted: Pasted) -> dict[str, list[dict[str, Any]]]:
    """Returns the same for a pasted statement: those with its query id, and those that resemble it.

    Without any of both it returns those that contain its fingerprint, and those that are nearest to it.
    """
    if pasted.fingerprint is None:
        return {}
    ids = {pasted.fingerprint.query_id, pasted.fingerprint.former_id}
    similar = rows("page_query_similar", fingerprints=[*pasted.texts])
    groups = {
        "statement": rows("page_query_texts", query_ids=sorted(ids)),
        "similar": [row for row in similar if row["id"] not in ids],
    }
    if not any(groups.values()):
        part = Meaning(pasted.texts[-1].strip())
        groups["text"] = rows("page_query_search", **part.parameters())
        groups |= _nearest(rows, pasted.fingerprint, {row["id"] for row in groups["text"]})
    return _nonempty(groups)


def _nearest(rows: Rows, its: Fingerprint, found: Container[int]) -> dict[str, list[dict[str, Any]]]:
    """Returns the statements that share tables with `its` and are not `found`, by the keys of TITLES."""
    groups: dict[str, list[dict[str, Any]]] = {name: [] for name in BY_LIKENESS}
    if tables := tables_of(its):
        given = {"verb": its.verb, "tables": tables, "text": its.text[:MOST_NEAREST_TEXT]}
        for row in rows("page_query_nearest", **given):
            if row["id"] not in found:
                groups[row["kind"]].append(row)
    return groups


def not_stored(groups: Mapping[str, Any]) -> str:
    """Returns a sentence that says that a pasted statement is not stored and what the groups contain instead,
    or an empty one if it is."""
    if "statement" in groups:
        return ""
    if "sharing" in groups and "nearest" not in groups:
        return "No query with exactly this text, and none with the same tables and verb."
    return "No query with exactly this text." if groups else ""


def tables_of(its: Fingerprint) -> list[str]:
    """Returns the tables that a statement reads or writes, without duplicates."""
    return [*dict.fromkeys(name.replace("`", "").lower() for name in (*its.writes, *its.reads))]


def _with_digest(rows: Rows, digest: str, span: TimeRange) -> list[dict[str, Any]]:
    recent = TimeRange(max(span.since, span.until - DIGEST_RANGE), span.until)
    ids = [row["id"] for row in rows("page_query_digest", digest=digest, **recent.parameters())]
    return rows("page_query_texts", query_ids=ids) if ids else []


def _nonempty(groups: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    return {name: groups[name] for name in TITLES if groups.get(name)}
