"""The figures of figures.yaml, each with its class and source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

FILE = Path(__file__).parent / "figures.yaml"
CLASSES = ("measured", "configured", "assumed")
HOURS = "hours"


@dataclass(frozen=True)
class Figure:
    """One figure. `kind` is one of CLASSES."""

    value: float
    unit: str
    kind: str
    source: str


@dataclass(frozen=True)
class Figures:
    """All figures by name, and the load of each hour of the day relative to the average hour."""

    all: Mapping[str, Figure]
    hours: Sequence[float]

    def __getitem__(self, name: str) -> float:
        return self.all[name].value


def load(file: Path = FILE) -> Figures:
    """Raises ValueError for a figure without class or source, and for a day without 24 hours."""
    content = yaml.safe_load(file.read_text())
    hours = content.pop(HOURS)
    if len(hours) != 24 or min(hours) <= 0:
        raise ValueError(f"{file}: {HOURS} must be 24 positive numbers")
    average = sum(hours) / len(hours)
    return Figures(
        {name: _figure(name, each) for name, each in content.items()}, [hour / average for hour in hours]
    )


def _figure(name: str, content: Mapping[str, object]) -> Figure:
    figure = Figure(
        float(content["value"]), str(content["unit"]), str(content["class"]), str(content["source"])
    )
    if figure.kind not in CLASSES or not figure.source:
        raise ValueError(f"{name}: class must be one of {', '.join(CLASSES)}, with a source")
    return figure
