"""Results of tools: capped data with provenance.

Every stored text may have been written by an attacker: statements, but also the names of users, programs,
tables and hosts. It is a value below the key `untrusted_text`, and nowhere else. What is outside of it are
numbers, times, ids and words of fixed lists.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

UNTRUSTED = "untrusted_text"
MAX_BYTES = 48 << 10
"""Of the result as JSON text."""
MAX_LIST = 100
MAX_TEXTS = (4000, 500, 100)
"""Characters of one text; a result that is too large gets the next shorter limit before it loses items."""
_WORD = re.compile(r"[A-Za-z0-9_.:+-]{1,64}|(true|false) positive")
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "`": "\\u0060"}

Item = Mapping[str, Any]


@dataclass(frozen=True)
class Data:
    """What a tool read."""

    operation: str
    """Of the REST API."""
    tables: Collection[str]
    items: Sequence[Item]
    trusted: Collection[str]
    """Keys of texts that are times, ids or words of fixed lists."""
    since: datetime | None = None
    until: datetime | None = None
    is_part: bool = False
    """Whether there are more items."""
    unknown: Sequence[str] = field(default=())
    """Sentences of Tailrace about the limits of the data."""


def result(data: Data, role: str, now: datetime) -> dict[str, Any]:
    """Returns the structured content of a result, at most MAX_BYTES long as `text_of` writes it."""
    for most in MAX_TEXTS:
        found = _result(data, role, now, most, len(data.items))
        if _fits(found):
            return found
    count = len(data.items)
    while count and not _fits(found):
        count -= max(1, count // 8)
        found = _result(data, role, now, MAX_TEXTS[-1], count)
    return found


def text_of(content: Mapping[str, Any]) -> str:
    """Returns JSON in ASCII without characters that end a Markdown fence or a tag; its parsed value is the
    same."""
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    for character, escape in _ESCAPED.items():
        text = text.replace(character, escape)
    return text


def _fits(content: Mapping[str, Any]) -> bool:
    return len(text_of(content)) <= MAX_BYTES


def _result(data: Data, role: str, now: datetime, most: int, count: int) -> dict[str, Any]:
    cutter = _Cutter(most)
    items = [_separated(item, data.trusted, cutter) for item in data.items[:count]]
    provenance = {
        "source": "tailrace",
        "operation": data.operation,
        "tables": sorted(data.tables),
        "role": role,
        "read_at": _shown(now),
        "from": _shown(data.since),
        "to": _shown(data.until),
        "items": len(items),
        "truncated": data.is_part or count < len(data.items) or cutter.has_cut,
        "unknown": list(data.unknown),
    }
    return {"items": items, "provenance": provenance}


def _shown(time: datetime | None) -> str | None:
    return f"{time:%Y-%m-%dT%H:%M:%SZ}" if time else None


@dataclass
class _Cutter:
    """Copies values with texts of at most `most` characters, and lists of at most MAX_LIST items."""

    most: int
    has_cut: bool = False

    def copy(self, value: Any) -> Any:
        if isinstance(value, str):
            self.has_cut |= len(value) > self.most
            return value[: self.most]
        if isinstance(value, Mapping):  # a key may be a stored text, too
            return self.copy([{"name": name, "value": each} for name, each in value.items()])
        if isinstance(value, list):
            self.has_cut |= len(value) > MAX_LIST
            return [self._entry(each) for each in value[:MAX_LIST]]
        return value

    def _entry(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: self.copy(each) for name, each in value.items()}
        return self.copy(value)


def _separated(item: Item, trusted: Collection[str], cutter: _Cutter) -> dict[str, Any]:
    """Returns an item with its stored texts below UNTRUSTED; an empty text is null."""
    kept: dict[str, Any] = {}
    texts: dict[str, Any] = {}
    for name, stored in item.items():
        value = None if stored == "" else stored
        (kept if _is_safe(value, name in trusted) else texts)[name] = cutter.copy(value)
    return {**kept, **({UNTRUSTED: texts} if texts else {})}


def _is_safe(value: Any, may_be_word: bool) -> bool:
    if isinstance(value, str):
        return may_be_word and _WORD.fullmatch(value) is not None
    if isinstance(value, list):
        return may_be_word and all(isinstance(each, str) and _is_safe(each, True) for each in value)
    return value is None or isinstance(value, bool | int | float)
