"""Writes results of queries as CSV and Parquet, and summarizes each; no result is held in memory."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.clickhouse.client import ClickHouse
from tailrace.evidence.framework import Result
from tailrace.plural import counted

SHOWN_ROWS = 20
"""Rows of each result in a report."""
ATTEMPTS = 3
NULL = "\\N"
PARQUET_END = b"PAR1"
MAX_FIELD_BYTES = 1 << 28

csv.field_size_limit(MAX_FIELD_BYTES)


class ResultError(RuntimeError):
    """A result could not be read consistently; the message is shown to the user."""


@dataclass(frozen=True)
class Stored:
    """One result in the bundle."""

    result: Result
    rows: int
    header: Sequence[str]
    first: Sequence[Mapping[str, str]]
    by_day: Mapping[str, int] = field(default_factory=dict)
    """Rows of each day, `2026-11-20`; empty where the result has no such column."""

    @property
    def name(self) -> str:
        return self.result.name


def store(
    clickhouse: ClickHouse, result: Result, parameters: Mapping[str, object], directory: Path
) -> Stored:
    """Writes queries/NAME.sql and results/NAME.csv and .parquet.

    The query runs once for each format. If the numbers of rows differ because rows arrived in between, both
    run again. Raises ResultError, ClickHouseError, OSError.
    """
    statement = result.statement()
    _place(directory, "queries", f"{result.name}.sql").write_text(_commented(statement, parameters))
    for _ in range(ATTEMPTS):
        rows, stored = (
            _copy(clickhouse, statement, form, parameters, path)
            for form, path in _forms(directory, result.name)
        )
        if rows == stored:
            _assert_whole(_place(directory, "results", f"{result.name}.parquet"))
            return _read(result, rows, _place(directory, "results", f"{result.name}.csv"))
    raise ResultError(f"{result.name}: rows of this period are still arriving; export it a little later")


def read_csv(path: Path) -> Iterator[list[str]]:
    """Yields the records of a ClickHouse CSV file, the header first; bytes that are not UTF-8 as \\xNN."""
    with path.open(newline="", encoding="utf-8", errors="backslashreplace") as file:
        yield from csv.reader(file)


def _forms(directory: Path, name: str) -> Iterable[tuple[str, Path]]:
    yield "CSVWithNames", _place(directory, "results", f"{name}.csv")
    yield "Parquet", _place(directory, "results", f"{name}.parquet")


def _place(directory: Path, folder: str, name: str) -> Path:
    (directory / folder).mkdir(exist_ok=True)
    return directory / folder / name


def _copy(
    clickhouse: ClickHouse, statement: str, form: str, parameters: Mapping[str, object], path: Path
) -> int:
    with path.open("wb") as file:
        return clickhouse.copy(f"{statement}\nFORMAT {form}", file, parameters)


def _commented(statement: str, parameters: Mapping[str, object]) -> str:
    return f"-- Run with the parameters {json.dumps(dict(parameters))}\n{statement}\n"


def _assert_whole(parquet: Path) -> None:
    """Checks the end of a Parquet file: a truncated file has no footer."""
    with parquet.open("rb") as file:
        file.seek(max(0, parquet.stat().st_size - len(PARQUET_END)))
        end = file.read()
    if end != PARQUET_END:
        raise ResultError(f"{parquet.name}: ClickHouse sent a truncated file; is its disk full?")


def _read(result: Result, rows: int, path: Path) -> Stored:
    """Reads the file for the report, and verifies that it contains as many records as ClickHouse counted."""
    records = read_csv(path)
    header = next(records, [])
    day_of = header.index(result.by_day) if result.by_day else None
    first: list[dict[str, str]] = []
    days: Counter[str] = Counter()
    found = 0
    for record in records:
        found += 1
        if found <= SHOWN_ROWS:
            first.append(dict(zip(header, record, strict=True)))
        if day_of is not None:
            days[record[day_of][:10]] += 1
    if found != rows:
        raise ResultError(
            f"{path.name}: ClickHouse counted {counted(rows, 'row')}, but the file contains {found}"
        )
    return Stored(result, rows, header, first, days)
