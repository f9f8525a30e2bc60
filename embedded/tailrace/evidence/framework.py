"""Reads frameworks/*.yaml: requirements, the queries that answer them, and the limits of the answers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from tailrace.config.resources import ROOT

DIRECTORY = Path(__file__).parent / "frameworks"
QUERIES = ROOT / "sql" / "queries"

_INCLUDE = re.compile(r"^\{include:([\w/]+)\}$", re.MULTILINE)


@dataclass(frozen=True)
class Result:
    """One query of the bundle."""

    name: str
    title: str
    columns: Sequence[str]
    """The columns that the report shows; the files contain all."""
    empty: str
    """The meaning of an empty result."""
    by_day: str = ""
    """The time column for a chart of rows per day."""

    def statement(self) -> str:
        """Returns the text of the query, with the files that it includes."""
        text = (QUERIES / f"evidence_{self.name}.sql").read_text()
        return _INCLUDE.sub(lambda found: (QUERIES / f"{found[1]}.sql").read_text().rstrip(), text).rstrip()


@dataclass(frozen=True)
class Requirement:
    """One requirement, in our words."""

    id: str
    asks: str
    results: Sequence[str]
    shows: str
    cannot_show: str


@dataclass(frozen=True)
class Framework:
    """A standard, limited to the requirements that logs and accounts of databases can serve."""

    name: str
    title: str
    parameters: Mapping[str, str]
    coverage: Sequence[str]
    results: Mapping[str, Result]
    requirements: Sequence[Requirement]


def names() -> list[str]:
    """Returns the names of all frameworks."""
    return sorted(path.stem for path in DIRECTORY.glob("*.yaml"))


def load(name: str) -> Framework:
    """Reads one of `names()`."""
    known = yaml.safe_load((DIRECTORY / f"{name}.yaml").read_text())
    results = {key: Result(key, **value) for key, value in known["results"].items()}
    requirements = [Requirement(**value) for value in known["requirements"]]
    return Framework(name, known["title"], known["parameters"], known["coverage"], results, requirements)
