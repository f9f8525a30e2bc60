"""Archives closed days and reads them back: one run, for the command and for the component."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path

from tailrace.archive import days
from tailrace.archive.location import Location
from tailrace.archive.runner import Archiver, Sizes
from tailrace.archive.tables import TABLES, ArchivedTable
from tailrace.archive.verifier import ArchiveVerifier
from tailrace.clickhouse.client import ClickHouse
from tailrace.clickhouse.replica_progress import ReplicaProgress
from tailrace_verify.archive_days import Day
from tailrace_verify.findings import Report


class Task:
    """One run over an archive.

    `servers` are all servers, if ClickHouse has replicas or shards; `clickhouse` may then be any of them.
    """

    def __init__(
        self,
        clickhouse: ClickHouse,
        location: Location,
        home: Path,
        report: Callable[[str], None],
        sizes: Sizes | None = None,
        servers: Sequence[ClickHouse] = (),
    ) -> None:
        self._clickhouse, self._location = clickhouse, location
        progress = ReplicaProgress(servers or (clickhouse,), [table.name for table in TABLES])
        self._archiver = Archiver(clickhouse, location, home, report, progress, sizes)
        self._verifier = ArchiveVerifier(clickhouse, location, self._archiver.warehouse)
        self._report = Report()

    def run(self, end: date, tables: Sequence[ArchivedTable] = TABLES) -> Iterator[tuple[Day, bool]]:
        """Archives the days before `end`, and yields each with whether it is verified. Days that an earlier
        run has written and not verified are verified too."""
        for day in self._archiver.run(end, tables):
            yield day, self._verifier.verify(day.table, day.day, self._report, with_clickhouse=False)
        states = days.states(self._clickhouse, self._location)
        names = {table.name for table in tables}
        for table, day in list(days.listed(self._location, end=end.isoformat())):
            state = states.get((table, day), {}).get("state")
            if table in names and state in (None, days.WRITTEN) and not self._has_failed(table, day):
                found = days.read(self._location, table, day)
                yield found, self._verifier.verify(table, day, self._report)

    def findings(self) -> list[str]:
        """Returns what differs, a sentence each."""
        return [
            f"{each.message} ({', '.join(f'{name} {value}' for name, value in each.place.items())})"
            for each in self._report.findings
        ]

    def _has_failed(self, table: str, day: str) -> bool:
        return any(
            each.place.get("table") == table
            and day in (each.place.get("day"), str(each.place.get("minute"))[:10])
            for each in self._report.findings
        )
