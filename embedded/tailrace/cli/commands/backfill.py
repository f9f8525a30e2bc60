"""Ships again what the books say is missing, from the files that still hold it, and waits until it is in.

Run it on the machine that has the log files. Each file is found by the inode and the first bytes that the
census saw; a copy elsewhere (also .gz) is given with --file. Files of listed logs of which nothing has come
are named. Exits with 0 when nothing is missing any more.
"""

import argparse
import dataclasses
import json
import time
from collections.abc import Iterator
from pathlib import Path

from tailrace.backfill import shipping
from tailrace.backfill.shipping import BackfillError, ByteRange, FileCandidate, Shipment, UnreadFile
from tailrace.cli import console
from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit
from tailrace.clickhouse.client import ClickHouse
from tailrace.sources import active_sources

HELP = "ship lost byte ranges again"
EXAMPLES = (
    "tailrace backfill --dry-run",
    "tailrace backfill",
    "tailrace backfill --instance shop-db-1 --file /backup/slow.log.3.gz",
)
HEADER = ("instance", "log", "generation", "from", "to", "missing", "file", "state")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--instance", help="only the logs of this server")
    parser.add_argument("--log", help="only this log: its path without rotation suffix")
    parser.add_argument("--generation", type=int, help="only this generation of a log")
    parser.add_argument(
        "--file", type=Path, help="the file, or a copy of it, when it is not where the census saw it"
    )
    parser.add_argument(
        "--wait", type=float, default=60, metavar="SECONDS", help="for the books (default: 60)"
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would be shipped, and from where")
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    clickhouse = context.clickhouse("admin")
    stretches = [stretch for stretch in shipping.missing_ranges(clickhouse) if _is_wanted(stretch, arguments)]
    if arguments.file and len({stretch.file for stretch in stretches}) > 1:
        raise CommandError("--file is one file: choose with --instance, --log and --generation")
    run_of = _Backfill(clickhouse, context, arguments)
    rows = [*run_of.rows(stretches), *run_of.untouched()]
    _print(rows, arguments)
    return Exit.OK if all(row["state"] in ("filled", "to be shipped") for row in rows) else Exit.FAILED


class _Backfill:
    """One run of the command."""

    def __init__(self, clickhouse: ClickHouse, context: Context, arguments: argparse.Namespace) -> None:
        self._clickhouse = clickhouse
        self._arguments = arguments
        self._kafka = context.kafka("backfill")
        self._watched = active_sources.active_or_listed(context.settings, context.home).logs
        self._inodes = shipping.inodes(clickhouse)

    def rows(self, stretches: list[ByteRange]) -> list[dict]:
        """What became of each stretch."""
        wanted = {self._key(stretch) for stretch in stretches}
        seen = shipping.candidates(self._kafka, wanted) if wanted else {}
        done = [self._ship(stretch, seen.get(self._key(stretch))) for stretch in stretches]
        done = [(stretch, row) for stretch, row in done if stretch.end > stretch.start]
        if not self._arguments.dry_run:
            self._await(done)
        return [row for _, row in done]

    def untouched(self) -> Iterator[dict]:
        """A row for each file of which nothing has come; a generation that is asked for has lines."""
        arguments = self._arguments
        if arguments.generation is not None:
            return
        for file in shipping.unread_files(self._clickhouse, self._watched, time.time()):
            if arguments.instance in (None, file.instance) and arguments.log in (None, file.log):
                yield _row_of_untouched(file)

    def _ship(self, lost: ByteRange, sighting: FileCandidate | None) -> tuple[ByteRange, dict]:
        """What was shipped, and its row. Without a whole line the stretch is empty: nothing of it is lost."""
        stretch, file = lost, None
        try:
            file = self._file(lost, sighting)
            stretch = shipping.whole_lines(lost, file)
            if not self._arguments.dry_run:
                shipping.ship(self._kafka, self._shipment(stretch, file, sighting))
        except BackfillError as error:
            return stretch, _row(stretch, file, str(error))
        return stretch, _row(stretch, file, "to be shipped" if self._arguments.dry_run else "shipped")

    def _file(self, stretch: ByteRange, sighting: FileCandidate | None) -> Path:
        if sighting is None:
            raise BackfillError(f"no census has seen {stretch.file}: nothing can prove which file it was")
        if self._arguments.file:
            shipping.check(self._arguments.file, sighting)
            return self._arguments.file
        return shipping.locate(sighting)

    def _shipment(self, stretch: ByteRange, file: Path, sighting: FileCandidate) -> Shipment:
        wanted = (stretch.file.instance, stretch.file.source, stretch.file.log)
        for watched in self._watched:
            if (watched.instance, watched.source, str(watched.path)) == wanted:
                return Shipment(stretch, file, sighting.cluster, watched.format, watched.tz)
        return Shipment(stretch, file, sighting.cluster)

    def _await(self, done: list[tuple[ByteRange, dict]]) -> None:
        """Turns `shipped` into `filled`, or says what stayed open."""
        shipped = [stretch for stretch, row in done if row["state"] == "shipped"]
        left = shipping.await_filled(self._clickhouse, shipped, self._arguments.wait) if shipped else []
        for stretch, row in done:
            if row["state"] == "shipped":
                missing = sum(gap.missing for gap in left if gap.overlaps(stretch))
                row["state"] = f"{missing} bytes are still missing" if missing else "filled"

    def _key(self, stretch: ByteRange) -> tuple[str, int]:
        return stretch.file.instance, self._inodes.get(stretch.file, 0)


def _row(stretch: ByteRange, file: Path | None, state: str) -> dict:
    return {
        **dataclasses.asdict(stretch.file),
        "from": stretch.start,
        "to": stretch.end,
        "missing": stretch.missing,
        "file": str(file or "-"),
        "state": state,
    }


def _row_of_untouched(file: UnreadFile) -> dict:
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


def _is_wanted(stretch: ByteRange, arguments: argparse.Namespace) -> bool:
    wanted = (arguments.instance, arguments.log, arguments.generation)
    has = (stretch.file.instance, stretch.file.log, stretch.file.generation)
    return all(want is None or want == value for want, value in zip(wanted, has, strict=True))


def _print(rows: list[dict], arguments: argparse.Namespace) -> None:
    if arguments.json:
        print(json.dumps({"stretches": rows}, indent=2))
    elif rows:
        console.table(
            HEADER, ([row[name] for name in HEADER] for row in rows), right=("from", "to", "missing")
        )
    else:
        print("nothing is missing")
