"""The patterns of the data classes in data-classes.yaml of this installation, as people read them.

`tailrace rules push` sends this file. The detect job may still have another version of it.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tailrace.config.resources import ROOT

FILE = ROOT / "rules" / "data-classes.yaml"
_PART = re.compile(r"`(?:[^`]|``)*`|[^.`]+")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class ClassPattern:
    """A line of `patterns` or `exclude`."""

    pattern: str
    excluded: bool
    since: str
    """Day of its confirmation, YYYY-MM-DD; empty if the file names none."""
    confirmed_by: str
    """Empty if the file names nobody."""

    @property
    def of_whole_tables(self) -> bool:
        """Whether it names tables and no columns."""
        return len(_PART.findall(self.pattern)) < 3

    def is_of(self, databases: Collection[str]) -> bool:
        """Whether it has tables of any database, or of one of these; names ignore case."""
        database = _unquoted(next(iter(_PART.findall(self.pattern)), ""))
        expression = _expression(database)
        return not database.strip("*") or any(expression.fullmatch(name) for name in databases)


def read(file: Path = FILE) -> Mapping[str, list[ClassPattern]]:
    """Returns the patterns by class, in the order of the file; excluded ones last.

    Raises OSError or ValueError if the file cannot be read or is no file of data classes.
    """
    try:
        classes = (yaml.load(file.read_text(encoding="utf-8"), _LOADER) or {}).get("classes") or {}
        return {str(name): list(_patterns(body)) for name, body in classes.items()}
    except (yaml.YAMLError, AttributeError, TypeError, KeyError) as error:
        raise ValueError(f"{file.name}: expected data classes: {error}") from None


def _patterns(body: Mapping[str, Any]) -> Iterator[ClassPattern]:
    confirmed = {
        pattern: (str(each["since"]), str(each["by"]))
        for each in body.get("confirmed") or []
        for pattern in _listed(each["patterns"])
    }
    for key in ("patterns", "exclude"):
        for pattern in _listed(body.get(key)):
            yield ClassPattern(pattern, key == "exclude", *confirmed.get(pattern, ("", "")))


def _unquoted(part: str) -> str:
    return part[1:-1].replace("``", "`") if part.startswith("`") else part


def _expression(text: str) -> re.Pattern[str]:
    signs = {"*": ".*", "?": "."}
    return re.compile("".join(signs.get(sign, re.escape(sign)) for sign in text), re.IGNORECASE | re.DOTALL)


def _listed(value: object) -> list[str]:
    """Returns the texts of a list; like the detect job, a single text as a list."""
    return [*map(str, value)] if isinstance(value, list) else [str(value)] if value else []
