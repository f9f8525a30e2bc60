"""A query as text. `parse` makes the same query of it."""

import re
from collections.abc import Sequence

from tailrace.search import value_types
from tailrace.search.model import (
    EQUAL,
    RANGE,
    All,
    Any,
    Around,
    Between,
    Comparison,
    Condition,
    Not,
    Pipe,
    SearchQuery,
    Text,
    Timeline,
    Top,
    Value,
)

BARE = r"[^\s()|\",:]"
_BARE_VALUE = re.compile(rf"(?![-!<>=]){BARE}+")
_WORDS = ("and", "or", "not")


def text_of(query: SearchQuery) -> str:
    """Returns the text of a query."""
    parts = [_top_level(query.where), *_times(query), _pipe(query.pipe)]
    return " ".join(filter(None, parts))


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _top_level(where: Condition | None) -> str:
    match where:
        case None:
            return ""
        case All(conditions):
            return " ".join(map(_condition, conditions))
        case Any(conditions):
            return _alternatives(conditions)
        case _:
            return _condition(where)


def _condition(condition: Condition) -> str:
    match condition:
        case Text(text):
            return _bare(text)
        case Comparison():
            return _comparison(condition)
        case Not(inner):
            return f"-{_condition(inner)}"
        case All(conditions):
            return f"({' '.join(map(_condition, conditions))})"
        case Any(conditions):
            return f"({_alternatives(conditions)})"


def _alternatives(conditions: Sequence[Condition]) -> str:
    """AND binds more tightly than OR, so that its conditions need no parentheses here."""
    return " OR ".join(_top_level(each) if isinstance(each, All) else _condition(each) for each in conditions)


def _bare(text: str) -> str:
    is_bare = _BARE_VALUE.fullmatch(text) and text.lower() not in _WORDS
    return text if is_bare else quoted(text)


def _comparison(comparison: Comparison) -> str:
    if comparison.operator == RANGE:
        return f"{comparison.field}:{'..'.join(value.text for value in comparison.values)}"
    operator = "" if comparison.operator == EQUAL else comparison.operator
    return f"{comparison.field}:{operator}{','.join(map(value_text, comparison.values))}"


def value_text(value: Value) -> str:
    """Returns a value, in quotes if it would be read as something else without."""
    if value.is_pattern:
        return value.text
    is_bare = _BARE_VALUE.fullmatch(value.text) and "*" not in value.text and ".." not in value.text
    return value.text if is_bare else quoted(value.text)


def _times(query: SearchQuery) -> list[str]:
    found = [f"last:{value_types.span_text(query.last.seconds)}"] if query.last else []
    if isinstance(query.between, Between):
        ends = {"from": query.between.since, "to": query.between.until}
        found += [f"{name}:{end:%Y-%m-%dT%H:%M:%S}" for name, end in ends.items() if end]
    return found + ([_around(query.around)] if query.around else [])


def _around(around: Around) -> str:
    return f"around:{around.alert}~{value_types.span_text(around.seconds)}"


def _pipe(pipe: Pipe | None) -> str:
    match pipe:
        case None:
            return ""
        case Top(name, count):
            return f"| top {name} {count}"
        case Timeline(seconds):
            return f"| timeline {value_types.span_text(seconds)}"
        case _:
            return "| count"
