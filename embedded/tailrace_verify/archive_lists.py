"""What an archive must list: each table of a day that has proofs, and the columns of Iceberg's metadata."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from tailrace_verify.archive_days import TABLES, Day
from tailrace_verify.check import moment
from tailrace_verify.files import Files
from tailrace_verify.findings import NOTED, Report
from tailrace_verify.leaves import RowsLeaf
from tailrace_verify.plural import counted

CHECK, ICEBERG = "archive", "Iceberg"
Place = tuple[str, str]
"""Table and day."""


def find_missing(
    found: Sequence[Day],
    deleted: Collection[Place],
    leaves_of: Mapping[str, Sequence[RowsLeaf]],
    tables: Collection[str],
    report: Report,
) -> None:
    """Reports tables of a day that the log has rows of and the archive does not list.

    `leaves_of` are the leaves by directory of proofs, which the tables of a day share. A table without any
    day may not be archived at all (`archive run --table`), so it is only noted.
    """
    if not found and not deleted:
        report.incomplete(CHECK, "the archive lists no day of the period")
    until = {
        part.proofs: max(moment(each.ingested[1]) for each in day.parts)
        for day in found
        for part in day.parts
    }
    listed = {(day.table, day.day) for day in found} | {*deleted}
    reached = _reached(found)
    rows: Counter[Place] = Counter()
    for folder, leaves in leaves_of.items():
        for leaf in leaves:
            place = (leaf.table, leaf.minute[:10])
            if leaf.table not in tables or place in listed:
                continue
            stored = moment(leaf.ingested[0] if leaf.ingested else leaf.minute)
            is_of_folder = place[1] == folder.split("/")[1] and folder in until and stored < until[folder]
            oldest, newest, end = reached.get(leaf.table, ("", "", stored))
            if is_of_folder or (oldest < place[1] < newest and stored < end):
                rows[place] += leaf.rows
    known = {table for table, _ in listed}
    for (table, day), count in sorted(rows.items()):
        message = f"{counted(count, 'recorded row is', 'recorded rows are')} not in the archive"
        if table in known:
            report.incomplete(CHECK, message, table=table, day=day)
        else:
            report.add(NOTED, CHECK, f"{message}, as no other of its table", table=table, day=day)


def _reached(found: Sequence[Day]) -> dict[str, tuple[str, str, datetime]]:
    """Returns the oldest and the newest day by table, and when the last rows of the newest were stored."""
    reached = {}
    for table in {day.table for day in found}:
        of_table = sorted((day for day in found if day.table == table), key=lambda day: day.day)
        end = max(moment(part.ingested[1]) for part in of_table[-1].parts)
        reached[table] = (of_table[0].day, of_table[-1].day, end)
    return reached


def check_columns(root: Path, content: Files, found: Sequence[Day], report: Report) -> None:
    """Compares the number of each column in Parquet with Iceberg's: engines find columns by number."""
    for table in sorted({day.table for day in found}):
        try:
            numbers = _numbers(content, table)
        except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
            report.incomplete(ICEBERG, "its metadata is missing or cannot be read", table=table)
            continue
        for day in (each for each in found if each.table == table):
            for file in (each.path for part in day.parts for each in part.files):
                if wrong := sorted(_differing(root / file, numbers)):
                    message = f"engines read other columns as {', '.join(wrong)}"
                    report.tampered(ICEBERG, message, file=file, table=table, day=day.day)


def _numbers(content: Files, table: str) -> dict[str, int]:
    """Returns the numbers of the columns in the current metadata."""
    folder = f"{TABLES}/{table}/metadata"
    hint = content.read(f"{folder}/version-hint.text").decode().strip()
    metadata = json.loads(content.read(f"{folder}/{hint}.metadata.json"))
    current = metadata["current-schema-id"]
    schema = next(each for each in metadata["schemas"] if each["schema-id"] == current)
    return {field["name"]: field["id"] for field in schema["fields"]}


def _differing(file: Path, numbers: Mapping[str, int]) -> Iterator[str]:
    from tailrace_verify import archive_rows

    try:
        own = archive_rows.numbers(file)
    except (archive_rows.ParquetError, FileNotFoundError):
        return  # the file itself is already reported
    yield from (name for name, number in own.items() if numbers.get(name) != number)
