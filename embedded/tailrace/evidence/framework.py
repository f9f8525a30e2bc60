"""Reads frameworks/*.yaml: requirements, the results that answer them, and the limits of the answers."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

import yaml

from tailrace.clickhouse.query_files import QUERIES, text_of

DIRECTORY = Path(__file__).parent / "frameworks"
RESULTS = Path(__file__).parent / "results.yaml"


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
    query: str = ""
    """The query, if it has another name than the result."""
    counts: str = ""
    """What the columns count, if neither the title nor their names say it."""

    @property
    def file(self) -> Path:
        """The file of the query."""
        return QUERIES / f"{self._query}.sql"

    @property
    def _query(self) -> str:
        return f"evidence_{self.query or self.name}"

    def statement(self) -> str:
        """Returns the text of the query, with the files that it includes."""
        return text_of(self._query).rstrip()


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
    not_covered: str
    """Requirements that no result answers."""


def names() -> list[str]:
    """Returns the names of all frameworks."""
    return sorted(path.stem for path in DIRECTORY.glob("*.yaml"))


def load(name: str) -> Framework:
    """Reads one of `names()`. Its results have the order of results.yaml."""
    known = yaml.safe_load((DIRECTORY / f"{name}.yaml").read_text())
    requirements = [Requirement(**value) for value in known["requirements"]]
    used = {*known["coverage"], *(result for needed in requirements for result in needed.results)}
    parameters = known["parameters"]
    return Framework(
        name=name,
        title=known["title"],
        parameters=parameters,
        coverage=known["coverage"],
        results=_results(used, parameters),
        requirements=requirements,
        not_covered=known["not_covered"],
    )


def result(name: str) -> Result:
    """Returns a result of results.yaml for queries without a data class. Raises ValueError."""
    return _results({name}, {})[name]


def _results(used: AbstractSet[str], parameters: Mapping[str, str]) -> dict[str, Result]:
    """Returns the results of these names. Raises ValueError for a name that results.yaml does not define."""
    defined = yaml.safe_load(RESULTS.read_text())
    if unknown := sorted(used - defined.keys()):
        raise ValueError(f"{RESULTS.name} does not define the result {unknown[0]}")
    return {
        key: Result(key, **{name: _filled(value, parameters) for name, value in texts.items()})
        for key, texts in defined.items()
        if key in used
    }


def _filled(value: object, parameters: Mapping[str, str]) -> object:
    """Replaces `{class}` in a text."""
    return value.replace("{class}", parameters.get("class", "")) if isinstance(value, str) else value
