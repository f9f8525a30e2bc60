"""Ships missing byte ranges again as soon as they are calm, and records what cannot be repaired.

A range is calm if the ledger has shown it unchanged for `calm_seconds`: then the collector does not send it
late. A range is shipped at a limited rate, from the file that the census recorded. The ledger then either has
no gap in it (`repaired`), or the next attempt follows, each after twice the time. If the bytes no longer
exist, or three shipments did not fill the range, it is `lost`, with the reason. A lost range is tried again
every ten minutes, because an administrator may restore its file.

Shipping a range twice is harmless: the ledger counts its lines as duplicates. So this program keeps no state
on disk, can be killed at any time, and can run beside `tailrace backfill`.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Event

from tailrace.backfill import ranges, shipping
from tailrace.backfill.ranges import BackfillError, ByteRange, FileCandidate, FileLostError
from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.errors import ReportedError
from tailrace.kafka.client import KafkaClient
from tailrace.ledger.listed_logs import ListedLogs
from tailrace.ledger.records import LogFile
from tailrace.plural import counted
from tailrace.retry_pause import doubled
from tailrace.sources.log_key import LogKey, key_of
from tailrace.sources.sources_file import Source

TABLE = "tailrace.gap_repairs"
REPAIRED = "repaired"
LOST = "lost"

MAX_SHIPMENTS = 3
"""A range that is still missing after this number of shipments is lost."""
MAX_DELAY_SECONDS, MOST_DOUBLINGS = 600, 10


@dataclass(frozen=True)
class Pace:
    """How soon and how fast ranges are shipped. Seconds, and bytes per second."""

    interval_seconds: float = 10
    """Time between two reads of the ledger, which is doubled while no range is missing."""
    calm_seconds: float = 20
    wait_seconds: float = 30
    """Time that the ledger gets to show a shipped range as filled."""
    bytes_per_second: int = 8_000_000


@dataclass
class Attempt:
    """What is known about one missing range. `next_at` is a time of the repairer's clock, in seconds."""

    next_at: float
    shipments: int = 0
    failures: int = 0
    lost: str = ""
    """The reason why the range is lost; empty while it may be repaired."""


@dataclass(frozen=True)
class Round:
    """The result of one read of the ledger."""

    open: int
    """Missing ranges in the watched logs."""
    lost: int
    repaired: int
    problem: str
    """Why a range could not be shipped, for a reason that may pass; empty if there is none."""


class Repairer:
    """Repairs the logs that this machine has. `report` is called with a line about each result."""

    def __init__(
        self,
        clickhouse: ClickHouse,
        kafka: KafkaClient,
        watched: Sequence[Source],
        pace: Pace,
        report: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        listing: ListedLogs | None = None,
    ) -> None:
        """`listing`: records which logs this machine lists."""
        self._clickhouse = clickhouse
        self._kafka = kafka
        self._watched = {key_of(log): log for log in watched}
        # A collector has the logs of one server: its queries then read only the ledger of that server.
        instances = {log.instance for log in watched}
        self._instance = instances.pop() if len(instances) == 1 else ""
        self._pace = pace
        self._report = report
        self._clock = clock
        self._listing = listing
        self._attempts: dict[ByteRange, Attempt] = {}
        self._stopped = Event()
        self._latest = Round(0, 0, 0, "")
        self._on_progress: Callable[[Round], None] = lambda _: None

    def stop(self) -> None:
        self._stopped.set()

    def run(self, on_progress: Callable[[Round], None]) -> None:
        """Repairs until `stop`. `on_progress` is called after each read of the ledger, also a failed one, and
        after each shipped block."""
        self._on_progress = on_progress
        while not self._stopped.is_set():
            before = self._latest.problem
            self._latest = self._tried_round()
            if self._latest.problem not in ("", before):
                self._report(self._latest.problem)
            on_progress(self._latest)
            self._stopped.wait(self._pause_seconds())

    def _pause_seconds(self) -> float:
        """Returns the time until the next read. These reads are most of the work of an idle ClickHouse."""
        is_idle = not self._attempts and not self._latest.problem
        return self._pace.interval_seconds * (2 if is_idle else 1)

    def _tried_round(self) -> Round:
        # First, because a range that cannot be shipped must not keep a log that never arrived unknown.
        unrecorded = self._recorded_list()
        try:
            done = self.round()
        except (ClickHouseError, ReportedError, OSError) as error:
            done = Round(len(self._attempts), 0, 0, str(error))
        return replace(done, problem=done.problem or unrecorded)

    def _recorded_list(self) -> str:
        """Returns why the list of logs could not be recorded; empty if it is. Repairs do not wait for it."""
        try:
            if self._listing:
                self._listing.record_if_due()
        except (ClickHouseError, OSError) as error:
            return f"the list of logs is not recorded: {error}"
        return ""

    def round(self) -> Round:
        """Reads the ledger once, and ships what is due. Raises ClickHouseError, OSError."""
        now = self._clock()
        found = ranges.missing_ranges(self._clickhouse, self._instance)
        missing = [each for each in found if _key(each.file) in self._watched]
        self._attempts = {
            each: self._attempts.get(each) or Attempt(now + self._pace.calm_seconds) for each in missing
        }
        due = [each for each in missing if self._attempts[each].next_at <= now]
        problems, repaired = [], 0
        if due:
            inodes = ranges.inodes(self._clickhouse)
            keys = {each: (each.file.instance, inodes.get(each.file, 0)) for each in due}
            seen = ranges.candidates(self._kafka, keys.values())
            shipped = [each for each in due if self._ship(each, seen.get(keys[each]), problems)]
            repaired = self._settle(shipped)
        lost = sum(bool(attempt.lost) for attempt in self._attempts.values())
        return Round(len(missing), lost, repaired, problems[0] if problems else "")

    def _log_of(self, file: LogFile) -> Source:
        return self._watched[_key(file)]

    def _ship(self, lost: ByteRange, candidate: FileCandidate | None, problems: list[str]) -> bool:
        """Returns whether bytes were shipped. Otherwise the range is lost, postponed, or has no complete
        line."""
        attempt = self._attempts[lost]
        try:
            shipment = shipping.shipment(lost, candidate, self._log_of(lost.file))
            if shipment.byte_range.start == shipment.byte_range.end:  # the last line is still being written
                attempt.failures += 1
                self._postpone(attempt, attempt.failures)
                return False
            sent = shipping.ship(self._kafka, shipment, self._throttle)
        except FileLostError as error:
            self._give_up(lost, str(error))
            return False
        except (BackfillError, OSError) as error:
            attempt.failures += 1
            problems.append(f"{lost.file}: {error}")
            self._postpone(attempt, attempt.failures)
            return False
        attempt.shipments += 1
        self._report(
            f"shipped {counted(sent, 'byte')} of {lost.file} from offset {shipment.byte_range.start}"
        )
        return True

    def _settle(self, shipped: Sequence[ByteRange]) -> int:
        """Records the shipped ranges that are filled, and returns their number."""
        left = shipping.await_filled(self._clickhouse, shipped, self._pace.wait_seconds) if shipped else []
        filled = 0
        for each in shipped:
            missing = sum(gap.missing for gap in left if gap.overlaps(each))
            if not missing:
                filled += 1
                self.record(each, REPAIRED, "")
                self._report(
                    f"repaired {counted(each.missing, 'byte')} of {each.file} from offset {each.start}"
                )
            elif self._attempts[each].shipments >= MAX_SHIPMENTS:
                reason = f"{counted(missing, 'byte is', 'bytes are')} missing after {MAX_SHIPMENTS} shipments"
                self._give_up(each, reason)
            else:
                self._postpone(self._attempts[each], self._attempts[each].shipments)
        return filled

    def _give_up(self, lost: ByteRange, reason: str) -> None:
        attempt = self._attempts[lost]
        attempt.next_at = self._clock() + MAX_DELAY_SECONDS
        if attempt.lost != reason:
            self.record(lost, LOST, reason)
            attempt.lost = reason
            self._report(
                f"cannot repair {counted(lost.missing, 'byte')} of {lost.file} "
                f"from offset {lost.start}: {reason}"
            )

    def _postpone(self, attempt: Attempt, times: int) -> None:
        delay = doubled(self._pace.interval_seconds, MAX_DELAY_SECONDS, min(times, MOST_DOUBLINGS) + 1)
        attempt.next_at = self._clock() + delay

    def record(self, lost: ByteRange, state: str, reason: str) -> None:
        """Inserts a result, unless the newest one of the range is the same."""
        if state == LOST and self._recorded(lost) == (state, reason):
            return
        row = {
            "cluster": self._log_of(lost.file).cluster,
            "instance": lost.file.instance,
            "source": lost.file.source,
            "log": lost.file.log,
            "generation": lost.file.generation,
            "from_offset": lost.start,
            "to_offset": lost.end,
            "bytes": lost.missing,
            "state": state,
            "reason": reason,
        }
        self._clickhouse.append(f"{TABLE} ({', '.join(row)})", [row])

    def _recorded(self, lost: ByteRange) -> tuple[str, str] | None:
        rows = self._clickhouse.rows(
            f"SELECT toString(argMax(state, at)) AS state, argMax(reason, at) AS reason FROM {TABLE} "
            "WHERE instance = {instance:String} AND source = {source:String} AND log = {log:String} "
            "AND generation = {generation:UInt64} AND from_offset = {from_offset:UInt64} "
            "AND to_offset = {to_offset:UInt64} HAVING count() > 0",
            {
                "instance": lost.file.instance,
                "source": lost.file.source,
                "log": lost.file.log,
                "generation": lost.file.generation,
                "from_offset": lost.start,
                "to_offset": lost.end,
            },
        )
        return next(((row["state"], row["reason"]) for row in rows), None)

    def _throttle(self, sent: int) -> None:
        """Waits so long that `sent` bytes take at least their time."""
        self._on_progress(self._latest)
        self._stopped.wait(sent / self._pace.bytes_per_second)


def _key(file: LogFile) -> LogKey:
    return file.instance, file.source, file.log
