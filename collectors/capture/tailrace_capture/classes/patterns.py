"""Which columns the classes of a data-classes.yaml contain already (docs/DATA-CLASSES.md)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tailrace_capture.classes.names import Column
from tailrace_capture.targets import ConfigurationError

PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")
PLAIN = re.compile(r"[A-Za-z0-9_$-]+")


@dataclass(frozen=True)
class DataClasses:
    """Patterns and excluded patterns by class."""

    patterns: dict[str, list[str]] = field(default_factory=dict)
    excluded: dict[str, list[str]] = field(default_factory=dict)

    def contain(self, data_class: str, column: Column) -> bool:
        return _any(self.patterns.get(data_class, ()), column)

    def exclude(self, data_class: str, column: Column) -> bool:
        return _any(self.excluded.get(data_class, ()), column)


def read(file: Path) -> DataClasses:
    """Reads the classes. `tailrace rules check` validates the file; this raises ConfigurationError if it is
    no YAML with `classes`."""
    try:
        classes = (yaml.safe_load(file.read_text()) or {}).get("classes") or {}
        return DataClasses(
            {name: entry.get("patterns") or [] for name, entry in classes.items()},
            {name: entry.get("exclude") or [] for name, entry in classes.items()},
        )
    except (OSError, UnicodeError, yaml.YAMLError, AttributeError) as error:
        raise ConfigurationError(f"{file}: cannot be read: {error}") from None


def pattern(column: Column) -> str:
    """Returns the pattern of exactly this column; unusual names are in backticks."""
    return ".".join(map(_quoted, (column.database, column.table, column.name)))


def _quoted(name: str) -> str:
    return name if PLAIN.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def _any(patterns: Iterable[str], column: Column) -> bool:
    return any(_matches(pattern, column) for pattern in patterns)


def _matches(pattern: str, column: Column) -> bool:
    """A pattern of two parts represents all columns of the table."""
    parts = [_expression(found) for found in PART.finditer(pattern)]
    names = (column.database, column.table, column.name)[: len(parts)]
    return all(part.fullmatch(name) for part, name in zip(parts, names, strict=True))


def _expression(found: re.Match) -> re.Pattern:
    text = found[2] if found[1] is None else found[1].replace("``", "`")
    signs = {"*": ".*", "?": "."}
    return re.compile("".join(signs.get(sign, re.escape(sign)) for sign in text), re.IGNORECASE | re.DOTALL)
