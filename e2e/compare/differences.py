"""Compares two directories of outputs, row by row.

A directory contains files with the same relative paths. In `.jsonl` files each line is a row with columns,
in others each line is a row of text. The order of rows does not matter. A column is the path of a value in a
row, separated by dots: `rule.title`, `inputs.0.rows`.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

WHOLE_FILE = "(file)"
"""The column of a difference that is a file which only one version has."""
RARE = 40
"""A value that at most this number of rows have can identify a row."""

Columns = dict[str, str]
"""The values of a row as JSON, by column."""
Frozen = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Difference:
    """One value that differs, or one row that only one version has: then `column` is empty."""

    path: str
    column: str
    before: str | None
    after: str | None


@dataclass
class Comparison:
    """The comparison of one file: numbers of rows, and what differs."""

    path: str
    before: int = 0
    after: int = 0
    differences: list[Difference] = field(default_factory=list)


@dataclass(frozen=True)
class ColumnRules:
    """How rows are read: new names of columns of the base, columns that are not compared, and columns that
    identify a row: rows with different values there are different rows."""

    renamed: Callable[[str, str], str] = lambda _path, column: column
    ignored: Callable[[str, str], bool] = lambda _path, _column: False
    identifies: Callable[[str, str], bool] = lambda _path, _column: False


def compare(before: Path, after: Path, rules: ColumnRules) -> list[Comparison]:
    """Compares all files of two directories; returns a comparison for each path of either."""
    paths = sorted({str(file.relative_to(side)) for side in (before, after) for file in _files(side)})
    return [_compare_file(path, before / path, after / path, rules) for path in paths]


def _files(directory: Path) -> Iterator[Path]:
    return (path for path in directory.rglob("*") if path.is_file())


def _compare_file(path: str, before: Path, after: Path, rules: ColumnRules) -> Comparison:
    old, new = _rows(before), _rows(after)
    found = Comparison(path, old.total(), new.total())
    if not before.exists() or not after.exists():
        here = "missing" if not before.exists() else f"{old.total()} rows"
        there = "missing" if not after.exists() else f"{new.total()} rows"
        found.differences.append(Difference(path, WHOLE_FILE, here, there))
        return found
    gone, added = [*(old - new).elements()], [*(new - old).elements()]
    if path.endswith(".jsonl"):
        found.differences += _column_differences(path, gone, added, rules)
    else:
        found.differences += [Difference(path, "", row, None) for row in sorted(gone)]
        found.differences += [Difference(path, "", None, row) for row in sorted(added)]
    return found


def _rows(file: Path) -> Counter[str]:
    """Not splitlines(): texts in rows may contain U+0085 and the like, which it treats as line ends."""
    text = file.read_text(errors="backslashreplace") if file.exists() else ""
    return Counter(line for line in text.split("\n") if line)


def _column_differences(
    path: str, gone: list[str], added: list[str], rules: ColumnRules
) -> Iterator[Difference]:
    """Yields what differs in rows that are not equal as text: numbers, order and names are equal here."""
    before = Counter(_frozen(_columns(path, row, rules, old=True)) for row in gone)
    after = Counter(_frozen(_columns(path, row, rules, old=False)) for row in added)
    old = _by_identity(path, before - after, rules)
    new = _by_identity(path, after - before, rules)
    for identity in sorted(old.keys() | new.keys()):
        for left, right in _paired(old.get(identity, []), new.get(identity, [])):
            yield from _of_pair(path, left, right)


def _by_identity(path: str, rows: Counter[Frozen], rules: ColumnRules) -> dict[str, list[Columns]]:
    groups: dict[str, list[Columns]] = defaultdict(list)
    for row in sorted(rows.elements()):
        groups[str([value for value in row if rules.identifies(path, value[0])])].append(dict(row))
    return groups


def _of_pair(path: str, left: Columns | None, right: Columns | None) -> Iterator[Difference]:
    if left is None or right is None:
        yield Difference(path, "", _text(left), _text(right))
        return
    for column in sorted(left.keys() | right.keys()):
        if left.get(column) != right.get(column):
            yield Difference(path, column, left.get(column), right.get(column))


def _columns(path: str, row: str, rules: ColumnRules, old: bool) -> Columns:
    columns = dict(_flat(json.loads(row), ""))
    if old:
        columns = {rules.renamed(path, column): value for column, value in columns.items()}
    return {column: value for column, value in columns.items() if not rules.ignored(path, column)}


def _flat(value: Any, prefix: str) -> Iterator[tuple[str, str]]:
    """Yields the values of nested objects by column, as JSON. A list without objects is one value."""
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
        items = enumerate(value)
    if not items:
        yield prefix, json.dumps(value, ensure_ascii=False)
    for key, each in items:
        yield from _flat(each, f"{prefix}.{key}" if prefix else str(key))


def _frozen(columns: Columns) -> Frozen:
    return tuple(sorted(columns.items()))


def _text(columns: Columns | None) -> str | None:
    if columns is None:
        return None
    return " ".join(f"{column}={value}" for column, value in sorted(columns.items()))


def _paired(old: list[Columns], new: list[Columns]) -> Iterator[tuple[Columns | None, Columns | None]]:
    """Yields each row with the most similar row of the other side, or with None.

    Rows that have less than half of their values in common are two rows.
    """
    having: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, row in enumerate(new):
        for value in row.items():
            having[value].append(number)
    left = dict(enumerate(new))
    for row in old:
        best = _most_similar(row, having, left)
        if best is None or 2 * _common(row, left[best]) < max(len(row), len(left[best])):
            yield row, None
        else:
            yield row, left.pop(best)
    yield from ((None, row) for row in left.values())


def _most_similar(
    row: Columns, having: Mapping[tuple[str, str], list[int]], left: Mapping[int, Columns]
) -> int | None:
    """Returns the row left that shares most values with this row; a value that fewer rows have counts more.

    Of rows without a rare value in common, only the first ones are considered: there may be very many.
    """
    weights: dict[int, float] = defaultdict(float, dict.fromkeys(islice(left, RARE), 0.0))
    for value in row.items():
        numbers = having.get(value, [])
        for number in numbers if len(numbers) <= RARE else weights.keys() & {*numbers}:
            weights[number] += 1 / len(numbers)
    return max(
        (number for number in weights if number in left), key=lambda number: weights[number], default=None
    )


def _common(left: Columns, right: Columns) -> int:
    return sum(right.get(column) == value for column, value in left.items())
