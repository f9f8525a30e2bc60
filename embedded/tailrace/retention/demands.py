"""Reads frameworks.yaml: the classes of records, and how long each framework demands to keep them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from tailrace.plural import counted

FILE = Path(__file__).parent / "frameworks.yaml"


@dataclass(frozen=True)
class Demand:
    """What one clause of a framework demands of a class of records."""

    framework: str
    """Its key, such as `pci`."""
    title: str
    """Of the framework."""
    clause: str
    asks: str
    days: int = 0
    """The least total time in days; 0: the framework sets no number."""
    online: int = 0
    """The part of it that must be immediately available."""

    @property
    def text(self) -> str:
        number = counted(self.days, "day") if self.days else "no number of days is set"
        online = f", {self.online} of them immediately available" if self.online else ""
        return f"{self.title}, {self.clause}: {number}{online}"

    def is_met(self, days: int, is_archived: bool) -> bool:
        """Whether `days` in ClickHouse suffice; the archive has what is older, if rows wait for it."""
        return days >= (self.online if is_archived else self.days)


@dataclass(frozen=True)
class RecordClass:
    """Tables with one kind of records."""

    name: str
    title: str
    tables: Sequence[str]
    demands: Sequence[Demand]


@cache
def classes() -> tuple[RecordClass, ...]:
    """Returns all classes in the order of the file."""
    content = yaml.safe_load(FILE.read_text())
    demands: dict[str, list[Demand]] = {name: [] for name in content["classes"]}
    for key, framework in content["frameworks"].items():
        for demand in framework["demands"]:
            values = {name: value for name, value in demand.items() if name != "class"}
            demands[demand["class"]].append(Demand(key, framework["title"], **values))
    return tuple(
        RecordClass(name=name, demands=tuple(demands[name]), **{**value, "tables": tuple(value["tables"])})
        for name, value in content["classes"].items()
    )


@cache
def frameworks() -> Mapping[str, str]:
    """Returns the titles of the frameworks by key."""
    return {key: value["title"] for key, value in yaml.safe_load(FILE.read_text())["frameworks"].items()}


def unmet(demands: Collection[Demand], days: int, is_archived: bool) -> list[Demand]:
    return [demand for demand in demands if not demand.is_met(days, is_archived)]
