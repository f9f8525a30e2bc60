"""Writes results of queries as CSV and Parquet, and summarizes each; no large result is held in memory."""

import csv
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.clickhouse.client import ClickHouse
from tailrace.evidence.framework import Result
from tailrace.plural import counted

SHOWN_ROWS = 20
"""Rows of each result in a report."""
ATTEMPTS = 3
NULL = "\\N"
PARQUET = "Parquet"
PARQUET_END = b"PAR1"
CONVERTED_BYTES = 32 << 20
"""The largest CSV that is converted in memory."""
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

    ClickHouse converts the CSV into Parquet in memory. For a CSV above CONVERTED_BYTES the query runs twice.
    If the numbers of rows differ because rows arrived in between, both run again.
    Raises ResultError, ClickHouseError, OSError.
    """
    statement = result.statement()
    _place(directory, "queries", f"{result.name}.sql").write_text(_commented(statement, parameters))
    csv_path, parquet = (_place(directory, "results", f"{result.name}.{form}") for form in ("csv", "parquet"))
    for _ in range(ATTEMPTS):
        counted_rows, columns = _copy_csv(clickhouse, statement, parameters, csv_path)
        stored = _read(result, counted_rows, csv_path)
        with parquet.open("wb") as file:
            if csv_path.stat().st_size <= CONVERTED_BYTES:
                rows = clickhouse.converted(csv_path.read_bytes(), columns, PARQUET, file)
            else:
                rows = clickhouse.copy(f"{statement}\nFORMAT {PARQUET}", file, parameters)
        if rows == stored.rows:
            _assert_whole(parquet)
            return stored
    raise ResultError(f"{result.name}: rows of this period are still arriving; export it a little later")


def read_csv(path: Path) -> Iterator[list[str]]:
    """Yields the records of a ClickHouse CSV file, the header first; bytes that are not UTF-8 as \\xNN."""
    with path.open(newline="", encoding="utf-8", errors="backslashreplace") as file:
        yield from csv.reader(file)


def _place(directory: Path, folder: str, name: str) -> Path:
    (directory / folder).mkdir(exist_ok=True)
    return directory / folder / name


def _copy_csv(
    clickhouse: ClickHouse, statement: str, parameters: Mapping[str, object], path: Path
) -> tuple[int, dict[str, str]]:
    """Writes the rows below a line of names; returns their number, and the type of each column by name."""
    with tempfile.TemporaryFile(dir=path.parent) as typed, path.open("wb") as file:
        rows = clickhouse.copy(f"{statement}\nFORMAT CSVWithNamesAndTypes", typed, parameters)
        typed.seek(0)
        head = [typed.readline() for _ in ("names", "types")]
        file.write(head[0])
        shutil.copyfileobj(typed, file, 1 << 20)
    names, types = csv.reader(line.decode() for line in head)
    if not names or len(names) != len(types):
        raise _truncated(path)
    return rows, dict(zip(names, types, strict=True))


def _commented(statement: str, parameters: Mapping[str, object]) -> str:
    return f"-- Run with the parameters {json.dumps(dict(parameters))}\n{statement}\n"


def _assert_whole(parquet: Path) -> None:
    """Checks the end of a Parquet file: a truncated file has no footer."""
    with parquet.open("rb") as file:
        file.seek(max(0, parquet.stat().st_size - len(PARQUET_END)))
        end = file.read()
    if end != PARQUET_END:
        raise _truncated(parquet)


def _truncated(path: Path) -> ResultError:
    return ResultError(f"{path.name}: ClickHouse sent a truncated file; is its disk full?")


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
            f"{path.name}: ClickHouse counted {counted(rows, 'row')}, but the file contains {found}; is its "
            "disk full?"
        )
    return Stored(result, rows, header, first, days)
