"""Visits logs when they are due, several at a time, and ships their new lines."""

import heapq
import itertools
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Protocol

from tailrace_pull import costs
from tailrace_pull.costs import Cost, Meter
from tailrace_pull.log import PulledLog
from tailrace_pull.pace import Pace
from tailrace_pull.reading import Round, VisitedLog
from tailrace_pull.remote import RemoteError
from tailrace_pull.shipping import ShippingError
from tailrace_pull.state import LogState

VISIT_BYTES = 8 << 20
"""What one visit reads at most: other logs follow before a large one is continued."""
WORKERS = 16
MAX_WAIT_SECONDS = 60.0
"""The maximum time between two calls of `after_pass`, also while every log is refused, or a visit is long."""
MILLIS = 1000
NOTHING = Meter()


class Sink(Protocol):
    """Where rounds are stored: Kafka (`shipping.Shipper`) or a directory (`once.Directory`)."""

    def ship(self, rounds: dict[PulledLog, Round], its_costs: dict[PulledLog, Cost]) -> None:
        """Stores all rounds and costs, or none. Raises ShippingError."""


class Clock:
    """Time of this machine, in seconds. Tests simulate another one."""

    def now(self) -> float:
        """Returns seconds since 1970 UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Returns seconds since an unknown time."""
        return time.monotonic()

    def wait(self, event: Event, seconds: float) -> None:
        """Returns when the event is set, or after this number of seconds."""
        event.wait(seconds)


@dataclass(eq=False)
class Watch:
    """A log, and what happened at its last visit."""

    log: PulledLog
    logs: VisitedLog
    state: LogState
    pace: Pace = field(default_factory=Pace)
    visited_at: float = 0.0
    """Time of the last successful visit, in seconds since 1970 UTC; 0 before the first."""
    bytes: int = 0
    """Bytes of lines that were shipped."""
    meter: Meter = field(default_factory=Meter)
    """What all visits cost."""
    reported: Cost | None = None
    """What was reported last, with sums since the start of the puller."""
    problem: str = ""
    """Why the last visit failed; empty if it succeeded."""
    problem_kind: str = ""
    """permission, setting, throttled, gone or failed."""
    missing_right: str = ""
    """The action that the policy lacks, or the statement that adds the missing permission or setting."""


class Numbers:
    """Numbers for files, in place of inodes: milliseconds since 1970, and greater than all before. So they
    are also unique if the state is lost."""

    def __init__(self) -> None:
        self._last = itertools.count(int(time.time() * MILLIS))

    def __call__(self) -> int:
        return next(self._last)


class Service:
    """Pulls logs until it is stopped."""

    def __init__(
        self,
        watches: Sequence[Watch],
        sink: Sink,
        report: Callable[[str], None],
        clock: Clock | None = None,
    ) -> None:
        self._watches = watches
        self._clock = clock or Clock()
        self._sink = sink
        self._report = report
        self._numbers = Numbers()
        self._since = self._clock.now()
        self._stopped = Event()
        order = itertools.count()
        self._due = [(self._clock.monotonic(), next(order), watch) for watch in watches]
        self._order = order

    def stop(self) -> None:
        self._stopped.set()

    def run(self, after_pass: Callable[[Sequence[Watch]], None], until_read: bool = False) -> None:
        """Visits logs until `stop`, or, with `until_read`, until each was read to its end once."""
        with ThreadPoolExecutor(WORKERS) as workers:
            while not self._stopped.is_set() and self._due:
                self._pass(workers, until_read, lambda: after_pass(self._watches))
                after_pass(self._watches)
                if self._due:
                    left = self._due[0][0] - self._clock.monotonic()
                    self._clock.wait(self._stopped, min(MAX_WAIT_SECONDS, max(0.0, left)))

    def _pass(self, workers: ThreadPoolExecutor, until_read: bool, meanwhile: Callable[[], None]) -> None:
        """Visits the logs that are due, and stores their rounds together."""
        due = self._take_due()
        visits = [(watch, workers.submit(self._visit, watch)) for watch in due]
        while wait([visited for _, visited in visits], MAX_WAIT_SECONDS).not_done:
            meanwhile()
        rounds = {watch: done for watch, visited in visits if (done := self._result(watch, visited))}
        totals = self._due_costs(due)
        try:
            if rounds or totals:
                spent = {watch.log: _spent(watch, total) for watch, total in totals.items()}
                self._sink.ship({watch.log: done for watch, done in rounds.items()}, spent)
                for watch, total in totals.items():
                    watch.reported = total
        except ShippingError as error:
            self._report(f"nothing stored, visited again: {error}")
            rounds = {}
        for watch in due:
            pause = self._after(watch, rounds.get(watch))
            if not (until_read and watch in rounds and rounds[watch].is_complete):
                at = self._clock.monotonic() + pause
                heapq.heappush(self._due, (at, next(self._order), watch))

    def _due_costs(self, visited: Sequence[Watch]) -> dict[Watch, Cost]:
        """Returns the sums of the visited logs whose costs are due, since the start of the puller."""
        now = self._clock.now()
        return {
            watch: Cost(self._since, now, watch.meter.requests, watch.meter.received, watch.bytes)
            for watch in visited
            if watch.meter != NOTHING
            and (watch.reported is None or now - watch.reported.at >= costs.PERIOD_SECONDS)
        }

    def _take_due(self) -> list[Watch]:
        due = []
        while self._due and self._due[0][0] <= self._clock.monotonic() and len(due) < 4 * WORKERS:
            due.append(heapq.heappop(self._due)[2])
        return due

    def _visit(self, watch: Watch) -> Round:
        with costs.metered(watch.meter):
            return watch.logs.visit(watch.state, self._numbers, self._clock.now(), VISIT_BYTES)

    def _result(self, watch: Watch, visited: "Future[Round]") -> Round | None:
        try:
            return visited.result()
        except Exception as fault:  # also a fault of a reader: the other logs are read
            error = fault if isinstance(fault, RemoteError) else _unexpected(fault)
            if str(error) != watch.problem:
                fix = f": {error.right}" if error.right.endswith(";") else ""
                self._report(f"{watch.log.instance} {watch.log.source}: {error}{fix}")
            watch.problem, watch.problem_kind, watch.missing_right = str(error), error.kind, error.right
            return None

    def _after(self, watch: Watch, done: Round | None) -> float:
        if done is None:
            return watch.pace.after_failure()
        for note in done.notes:
            self._report(f"{watch.log.instance} {watch.log.source}: {note}")
        has_grown = done.bytes > 0
        watch.state = done.state
        watch.problem = watch.problem_kind = watch.missing_right = ""
        watch.visited_at, watch.bytes = done.at, watch.bytes + done.bytes
        return watch.pace.after_visit(has_grown, done.is_complete)


def _spent(watch: Watch, total: Cost) -> Cost:
    """Returns what a log cost after its last report."""
    before = watch.reported or Cost(total.since, total.since, 0, 0, 0)
    return Cost(
        before.at,
        total.at,
        total.requests - before.requests,
        total.received - before.received,
        total.lines - before.lines,
    )


def _unexpected(fault: Exception) -> RemoteError:
    """Returns type and place of a fault, without its text, which may contain a part of the log."""
    place = traceback.extract_tb(fault.__traceback__)[-1]
    return RemoteError(f"unexpected {type(fault).__name__} in {Path(place.filename).name}:{place.lineno}")
