"""What a framework asks, which queries answer it, and what these cannot show: frameworks/*.yaml."""

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
    """What the report shows; the files hold all."""
    empty: str
    """What it means that there is no row."""
    by_day: str = ""
    """The column whose days a chart counts."""

    def statement(self) -> str:
        """The query's text, with those that it includes."""
        text = (QUERIES / f"evidence_{self.name}.sql").read_text()
        return _INCLUDE.sub(lambda found: (QUERIES / f"{found[1]}.sql").read_text().rstrip(), text).rstrip()


@dataclass(frozen=True)
class Requirement:
    """One requirement, in our own words."""

    id: str
    asks: str
    results: Sequence[str]
    shows: str
    cannot_show: str


@dataclass(frozen=True)
class Framework:
    """A standard, as far as logs and accounts of databases can serve it."""

    name: str
    title: str
    parameters: Mapping[str, str]
    coverage: Sequence[str]
    results: Mapping[str, Result]
    requirements: Sequence[Requirement]


def names() -> list[str]:
    """The frameworks that there are."""
    return sorted(path.stem for path in DIRECTORY.glob("*.yaml"))


def load(name: str) -> Framework:
    """One of `names()`."""
    known = yaml.safe_load((DIRECTORY / f"{name}.yaml").read_text())
    results = {key: Result(key, **value) for key, value in known["results"].items()}
    requirements = [Requirement(**value) for value in known["requirements"]]
    return Framework(name, known["title"], known["parameters"], known["coverage"], results, requirements)
