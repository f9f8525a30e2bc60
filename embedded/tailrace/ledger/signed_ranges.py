"""Reads how far each file is signed by its host and verified by the normalize job, and prints it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tailrace.clickhouse.client import ClickHouse
from tailrace.clickhouse.query_files import text_of
from tailrace.console import RED, YELLOW, count, duration, heading, plain, rest, size, styled, table
from tailrace.ledger.shown_files import MAX_FILES, shown_files

COLUMNS = (
    *("instance", "log", "generation", "verified to", "signed to", "mismatches", "failures"),
    *("incomplete", "unverified", "last signed"),
)


@dataclass(frozen=True)
class SignedFile:
    """The signed ranges of one file. Offsets are in bytes. The others are numbers of rows: one for ranges of
    a record that follow each other and have the same result."""

    instance: str
    """Empty for records that name no log."""
    source: str
    log: str
    generation: int
    """0 if the records could be assigned to no file."""
    verified_to: int
    """Every byte before it is verified."""
    signed_to: int
    mismatches: int
    failures: int
    """Rows with a wrong signature, an unknown key or a broken chain."""
    incomplete: int
    unverified: int
    signed_at: float
    """Unix time of the newest record, by the clock of the host."""

    @property
    def failed(self) -> int:
        return self.mismatches + self.failures


def read(clickhouse: ClickHouse, instance: str = "") -> list[SignedFile]:
    """Returns the files with signed ranges, of one server or all; none if no host signs (unknown)."""
    return [
        SignedFile(**row)
        for row in clickhouse.rows(text_of("ledger_signed_ranges"), parameters={"instance": instance})
    ]


def to_json(files: Sequence[SignedFile]) -> list[dict[str, object]]:
    return [asdict(file) for file in files]


def show(files: Sequence[SignedFile], now: float) -> None:
    """Prints a table of the files; one line if no host signs."""
    if not files:
        print(styled("Signatures: unknown, because no host signs its logs.", YELLOW))
        return
    heading("Signed by their hosts and compared with the bytes that arrived")
    shown = shown_files(files, lambda file: not file.failed)
    table(COLUMNS, [_line(file, now) for file in shown], set(COLUMNS[2:9]))
    rest(len(files), MAX_FILES)
    if failed := sum(file.failed for file in files):
        print(styled(f"{count(failed)} signed ranges failed: docs/LEDGER.md, signed ranges.", RED))


def _line(file: SignedFile, now: float) -> tuple[str, ...]:
    numbers = (file.mismatches, file.failures, file.incomplete, file.unverified)
    return (
        plain(file.instance) or "-",
        plain(file.log) or "-",
        str(file.generation or "-"),
        size(file.verified_to),
        size(file.signed_to),
        *map(count, numbers),
        f"{duration(max(0, now - file.signed_at))} ago",
    )
