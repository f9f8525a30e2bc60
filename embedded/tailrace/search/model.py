"""A search as data. Positions in the text are not part of a query's identity."""

from dataclasses import dataclass, field
from datetime import datetime

EQUAL, UNEQUAL, RANGE = "=", "!=", ".."
LESS, AT_MOST, MORE, AT_LEAST = "<", "<=", ">", ">="
ORDERS = (AT_LEAST, AT_MOST, MORE, LESS)


@dataclass(frozen=True)
class Value:
    """A value as it was written, without quotes."""

    text: str
    is_pattern: bool = False
    """Whether `*` matches any characters; a quoted value has no pattern."""


@dataclass(frozen=True)
class Comparison:
    """A field with one of the operators above. EQUAL and UNEQUAL have one or more values, RANGE two, others
    one."""

    field: str
    operator: str
    values: tuple[Value, ...]
    position: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Text:
    """The shown text of an event contains this text, in any case of its letters."""

    text: str
    position: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Not:
    """Every event for which the condition does not hold, those for which it is unknown included."""

    condition: "Condition"


@dataclass(frozen=True)
class All:
    """Conditions that all hold; at least two."""

    conditions: tuple["Condition", ...]


@dataclass(frozen=True)
class Any:
    """Conditions of which one holds; at least two."""

    conditions: tuple["Condition", ...]


Condition = Comparison | Text | Not | All | Any


@dataclass(frozen=True)
class Last:
    """The time before now, in seconds."""

    seconds: int


@dataclass(frozen=True)
class Between:
    """UTC times with whole seconds; `until` is not included. None: `last` or now decides."""

    since: datetime | None
    until: datetime | None


@dataclass(frozen=True)
class Around:
    """Events of the entity of an alert, from `seconds` before its evidence to as long after it."""

    alert: str
    """32 hexadecimal digits in lower case."""
    seconds: int


@dataclass(frozen=True)
class Top:
    """The most frequent values of a field."""

    field: str
    count: int


@dataclass(frozen=True)
class Timeline:
    """The number of events per bar."""

    seconds: int


@dataclass(frozen=True)
class Count:
    """The number of events by log."""


Pipe = Top | Timeline | Count


@dataclass(frozen=True)
class SearchQuery:
    """A search. Without a condition it finds every event of its time, without a pipe it lists them."""

    where: Condition | None = None
    last: Last | None = None
    between: Between | None = None
    around: Around | None = None
    pipe: Pipe | None = None
