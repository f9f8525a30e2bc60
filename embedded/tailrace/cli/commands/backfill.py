"""Ships byte ranges again that are missing in the ledger, and waits until the ledger contains them.

Run it on the machine that has the log files. Each file is identified by the inode and the hash of its first
bytes in the census. Give a copy in another place (also .gz) with --file. Files of watched logs of which no
line has arrived are listed.
"""

import argparse
import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path

from tailrace import console
from tailrace.backfill import ranges, shipping
from tailrace.backfill.ranges import BackfillError, ByteRange, FileCandidate, UnreadFile
from tailrace.cli import output
from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit
from tailrace.clickhouse.client import ClickHouse
from tailrace.plural import counted
from tailrace.sources import active_sources
from tailrace.sources.log_key import key_of
from tailrace.sources.sources_file import Source

HELP = "ship lost byte ranges again"
EXAMPLES = (
    "tailrace backfill --dry-run",
    "tailrace backfill",
    "tailrace backfill --instance shop-db-1 --file /backup/slow.log.3.gz",
)
EXIT_CODES = {0: "nothing is missing afterwards", 1: "bytes are still missing; the column state says why"}
SEE_ALSO = ("tailrace ledger", "docs/LEDGER.md")
KEYS = {
    "": {
        "instance": "the server",
        "source": "slowlog, audit, errorlog or general",
        "log": "canonical path of the log",
        "generation": "number of the file among the files with this name, from 1; 0 if no line has arrived",
        "from": "first byte offset of the range",
        "to": "byte offset after the range",
        "missing": "bytes that are missing",
        "file": "the file that contains them; null if it was not found",
        "state": "filled, to be shipped, or why the bytes are still missing",
    }
}
HEADER = ("instance", "log", "generation", "from", "to", "missing", "file", "state")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--instance", help="only the logs of this server")
    parser.add_argument("--log", help="only this log: its path without rotation suffix")
    parser.add_argument("--generation", type=int, help="only this generation of a log")
    parser.add_argument(
        "--file", type=Path, help="the file or a copy of it, if it is not where the census recorded it"
    )
    parser.add_argument(
        "--wait", type=float, default=60, metavar="SECONDS", help="wait for the ledger (default: 60)"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would be shipped, and from which file"
    )
    output.add_option(parser)


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    clickhouse = context.clickhouse("repair")
    byte_ranges = [
        byte_range for byte_range in ranges.missing_ranges(clickhouse) if _is_wanted(byte_range, arguments)
    ]
    if arguments.file and len({byte_range.file for byte_range in byte_ranges}) > 1:
        raise CommandError("--file needs --instance, --log and --generation")
    run_of = _Backfill(clickhouse, context, arguments)
    rows = [*run_of.rows(byte_ranges), *run_of.unread_files()]
    _print(rows, arguments)
    return Exit.OK if all(row["state"] in ("filled", "to be shipped") for row in rows) else Exit.FAILED


class _Backfill:
    """One run of the command."""

    def __init__(self, clickhouse: ClickHouse, context: Context, arguments: argparse.Namespace) -> None:
        self._clickhouse = clickhouse
        self._arguments = arguments
        self._kafka = context.kafka("backfill")
        self._watched = active_sources.active_or_listed(context.settings, context.home).logs
        self._inodes = ranges.inodes(clickhouse)

    def rows(self, byte_ranges: list[ByteRange]) -> list[dict]:
        """Returns the result for each range."""
        wanted = {self._key(byte_range) for byte_range in byte_ranges}
        seen = ranges.candidates(self._kafka, wanted) if wanted else {}
        done = [self._ship(byte_range, seen.get(self._key(byte_range))) for byte_range in byte_ranges]
        done = [(byte_range, row) for byte_range, row in done if byte_range.end > byte_range.start]
        if not self._arguments.dry_run:
            self._await(done)
        return [row for _, row in done]

    def unread_files(self) -> Iterator[dict]:
        """Yields a row for each file of which no line has arrived; none if a generation is given: those have
        lines."""
        arguments = self._arguments
        if arguments.generation is not None:
            return
        for file in ranges.unread_files(self._clickhouse, self._watched, time.time()):
            if arguments.instance in (None, file.instance) and arguments.log in (None, file.log):
                yield _row_of_unread_file(file)

    def _ship(self, lost: ByteRange, candidate: FileCandidate | None) -> tuple[ByteRange, dict]:
        """Returns the shipped range and its row. Without a complete line the range is empty: nothing is
        lost."""
        byte_range, file = lost, None
        try:
            found = shipping.shipment(lost, candidate, self._log_of(lost), self._given(candidate))
            byte_range, file = found.byte_range, found.file
            if not self._arguments.dry_run:
                shipping.ship(self._kafka, found)
        except BackfillError as error:
            return byte_range, _row(byte_range, file, str(error))
        return byte_range, _row(byte_range, file, "to be shipped" if self._arguments.dry_run else "shipped")

    def _given(self, candidate: FileCandidate | None) -> Path | None:
        """Returns the file of --file, checked."""
        if self._arguments.file and candidate:
            ranges.check(self._arguments.file, candidate)
        return self._arguments.file

    def _log_of(self, byte_range: ByteRange) -> Source | None:
        wanted = byte_range.file.instance, byte_range.file.source, byte_range.file.log
        return next((log for log in self._watched if key_of(log) == wanted), None)

    def _await(self, done: list[tuple[ByteRange, dict]]) -> None:
        """Changes `shipped` to `filled`, or to the number of bytes that are still missing."""
        shipped = [byte_range for byte_range, row in done if row["state"] == "shipped"]
        left = shipping.await_filled(self._clickhouse, shipped, self._arguments.wait) if shipped else []
        for byte_range, row in done:
            if row["state"] == "shipped":
                missing = sum(gap.missing for gap in left if gap.overlaps(byte_range))
                row["state"] = (
                    f"{counted(missing, 'byte is', 'bytes are')} still missing" if missing else "filled"
                )

    def _key(self, byte_range: ByteRange) -> tuple[str, int]:
        return byte_range.file.instance, self._inodes.get(byte_range.file, 0)


def _row(byte_range: ByteRange, file: Path | None, state: str) -> dict:
    return {
        **dataclasses.asdict(byte_range.file),
        "from": byte_range.start,
        "to": byte_range.end,
        "missing": byte_range.missing,
        "file": str(file) if file else None,
        "state": state,
    }


def _row_of_unread_file(file: UnreadFile) -> dict:
    return {
        "instance": file.instance,
        "source": file.source,
        "log": file.log,
        "generation": 0,
        "from": 0,
        "to": file.size,
        "missing": file.size,
        "file": str(file.path),
        "state": file.why,
    }


def _is_wanted(byte_range: ByteRange, arguments: argparse.Namespace) -> bool:
    wanted = (arguments.instance, arguments.log, arguments.generation)
    has = (byte_range.file.instance, byte_range.file.log, byte_range.file.generation)
    return all(want is None or want == value for want, value in zip(wanted, has, strict=True))


def _print(rows: list[dict], arguments: argparse.Namespace) -> None:
    if arguments.output == output.JSON:
        output.write_json({"stretches": rows})
    elif arguments.output == output.CSV:
        output.write_csv(KEYS[""], rows)
    elif rows:
        cells = (["-" if row[name] is None else row[name] for name in HEADER] for row in rows)
        console.table(HEADER, cells, right=("from", "to", "missing"))
    else:
        print("nothing is missing")
