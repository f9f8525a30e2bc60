"""Reads and validates sql/retention.yaml, the retention of each table in days."""

import difflib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import yaml

from tailrace.config.resources import ROOT
from tailrace.errors import ReportedError
from tailrace.migrations.migration_files import PLACEHOLDER, load_migrations

RETENTION = ROOT / "sql" / "retention.yaml"

MAX_DAYS = 36_500
ARCHIVED = "archived"


class RetentionError(ReportedError):
    """The file is invalid; the message contains its path, the key and what was expected."""


def load_retention(path: Path = RETENTION) -> dict[str, int]:
    """Returns retention in days by table. Raises RetentionError unless every table with a TTL is listed."""
    tables = {
        word
        for migration in load_migrations()
        for kind, word, _ in PLACEHOLDER.findall(migration.statement)
        if kind == "retention"
    }
    return load(path, tables)


def waiting_tables(archived: Collection[str], path: Path = RETENTION) -> tuple[str, ...]:
    """Returns the tables whose rows wait for the archive before they are deleted.

    `archived` are the tables of which the archive has a day: they wait if the file does not list others.
    Raises RetentionError.
    """
    days = load_retention(path)
    found = yaml.safe_load(path.read_text()).get("wait_for_archive", ARCHIVED)
    if found == ARCHIVED:
        return tuple(table for table in days if table in archived)
    if not isinstance(found, list) or not set(map(str, found)) <= days.keys():
        raise RetentionError(
            f"{path}: wait_for_archive: expected {ARCHIVED}, or a list of tables of `days`, found {found!r}"
        )
    return tuple(map(str, found))


def load(file: Path, tables: Iterable[str]) -> dict[str, int]:
    """Returns the retention in days, for exactly these tables. Raises RetentionError."""
    try:
        content = yaml.safe_load(file.read_text())
    except (OSError, yaml.YAMLError) as error:
        raise RetentionError(f"{file}: cannot be read: {error}") from error
    days = content.get("days") if isinstance(content, dict) else None
    if not isinstance(days, dict):
        raise RetentionError(f"{file}: expected the key `days` with a number of days for each table")
    _require_tables(file, days, sorted(tables))
    return days


def _require_tables(file: Path, days: Mapping[object, object], tables: list[str]) -> None:
    for key in days:
        if key not in tables:
            nearest = difflib.get_close_matches(str(key), tables, n=1, cutoff=0)[0]
            raise RetentionError(f"{file}: unknown table {key!r}; the nearest known one is {nearest}")
    for table in tables:
        number = days.get(table)
        if type(number) is not int or not 1 <= number <= MAX_DAYS:
            found = "nothing" if number is None else repr(number)
            raise RetentionError(f"{file}: {table} must be 1 to {MAX_DAYS} days, found {found}")
