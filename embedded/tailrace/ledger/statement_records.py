"""Reads the ledger of the records from Performance Schema, and prints it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tailrace.clickhouse.client import ClickHouse
from tailrace.clickhouse.query_files import text_of
from tailrace.console import RED, count, heading, number, plain, rest, size, styled, table
from tailrace.ledger.shown_files import MAX_FILES, shown_files

COLUMNS = ("instance", "path", "size", "records", "used", "counted only", "unreadable", "gaps", "missing")


@dataclass(frozen=True)
class RecordsFile:
    """The records of one log from Performance Schema, as the puller numbered their bytes."""

    instance: str
    path: str
    file: int
    """Number of the file: another one begins if the puller loses its state."""
    size: int
    """Bytes up to the last record or gap."""
    records: int
    used: int
    ignored: int
    """Records that are only counted."""
    unreadable: int
    """Records that are not in the published form of their tool."""
    gaps: int
    gap_bytes: int
    missing_bytes: int
    """Bytes without a row; negative if rows overlap. 0 in a correct database."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing, a gap or unreadable."""
        return not (self.missing_bytes or self.gaps or self.unreadable)


def read(clickhouse: ClickHouse, instance: str = "") -> list[RecordsFile]:
    """Returns the files with records, of one server or all."""
    found = clickhouse.rows(text_of("ledger_statement_records"), parameters={"instance": instance})
    return [RecordsFile(**row) for row in found]


def to_json(files: Sequence[RecordsFile]) -> list[dict[str, object]]:
    return [asdict(file) for file in files]


def show(files: Sequence[RecordsFile]) -> None:
    """Prints a table of the files; nothing if there are none."""
    if not files:
        return
    heading("Records from Performance Schema")
    shown = shown_files(files, lambda file: file.is_complete)
    table(COLUMNS, [_line(file) for file in shown], set(COLUMNS[2:]))
    rest(len(files), MAX_FILES)
    if wrong := [file for file in files if file.missing_bytes]:
        found = f"{number(wrong, 'log')} with missing or overlapping rows"
        print(styled(f"{found}: docs/PULL.md, ledger of the records.", RED))


def _line(file: RecordsFile) -> tuple[str, ...]:
    numbers = (file.records, file.used, file.ignored, file.unreadable, file.gaps)
    return (
        plain(file.instance),
        plain(file.path),
        size(file.size),
        *map(count, numbers),
        str(file.missing_bytes),
    )
