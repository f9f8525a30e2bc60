"""Sends the results of searches to one channel, in a thread of its own: a slow channel delays no other one.

A result that failed is sent again after a pause that doubles (`retry_initial`, `retry_max` of the channel),
and when the channel as a whole is not paused, until the next run of its search has a result.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tailrace.alerts.delivery.config import Channel
from tailrace.alerts.delivery.service import sender_of
from tailrace.clickhouse.client import ClickHouseError, new_token
from tailrace.outputs.backoff import Backoff
from tailrace.outputs.record import FAILED, Outcome
from tailrace.search.scheduled.found import Found
from tailrace.search.scheduled.message import message
from tailrace.search.scheduled.saved import SavedSearch
from tailrace.search.scheduled.slots import Slot

MOST_ATTEMPTS = 20
POLL_SECONDS = 1

Report = Callable[[str], None]


@dataclass
class Delivery:
    """A result that a channel must receive."""

    search: SavedSearch
    slot: Slot
    result: Found
    attempt: int
    """The number of the next attempt, from 1 on."""
    due_at: float = 0.0
    """When it may be made, in seconds since 1970."""
    outcome: Outcome | None = None
    """Of the attempt that is not recorded yet."""
    seconds: float = 0.0
    """How long that attempt took."""
    token: str = ""
    """Of the row of that attempt: it is the same if the row is written again."""

    @property
    def key(self) -> tuple[str, str]:
        return self.search.owner, self.search.name


Record = Callable[[Delivery, str, Outcome], None]
"""Stores an attempt for a channel. Raises OSError and ClickHouseError."""


class Outbox:
    """The results that one channel must receive. `clock`: seconds since 1970."""

    def __init__(
        self,
        channel: Channel,
        dashboards: str,
        backoff: Backoff,
        record: Record,
        report: Report,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._channel, self._dashboards = channel, dashboards
        self._backoff, self._record, self._report, self._clock = backoff, record, report, clock
        self._lock = threading.Lock()
        self._waiting: dict[tuple[str, str], Delivery] = {}
        """By owner and name: a newer result replaces an older one that did not arrive."""

    def add(self, delivery: Delivery) -> None:
        """Takes a result. May be called by any thread."""
        with self._lock:
            self._waiting[delivery.key] = delivery

    def has(self, search: SavedSearch, slot: Slot) -> bool:
        """Returns whether the result of this run waits."""
        with self._lock:
            found = self._waiting.get((search.owner, search.name))
        return found is not None and found.slot.until == slot.until

    def keep(self, searches: Sequence[SavedSearch]) -> None:
        """Drops the results of searches that were removed, or no longer name this channel."""
        kept = {(each.owner, each.name) for each in searches if self._channel.name in each.channels}
        with self._lock:
            self._waiting = {
                key: delivery
                for key, delivery in self._waiting.items()
                if key in kept or delivery.outcome is not None
            }

    def run(self, stop: threading.Event) -> None:
        """Sends what is due until it is stopped."""
        problem = ""
        while not stop.wait(POLL_SECONDS):
            before, problem = problem, self._pass(stop)
            if problem != before:
                said = problem or "attempts are recorded again"
                self._report(f"scheduled searches to {self._channel.name}: {said}")

    def _pass(self, stop: threading.Event) -> str:
        try:
            self.send_due(stop)
        except (OSError, ClickHouseError) as error:
            return f"cannot write to ClickHouse: {error}"
        return ""

    def send_due(self, stop: threading.Event | None = None) -> None:
        """Makes the attempts that are due, and records them. Raises OSError and ClickHouseError."""
        with self._lock:
            waiting = list(self._waiting.values())
        for delivery in waiting:
            if stop is not None and stop.is_set():
                return
            if delivery.outcome is None and self._may_try(delivery):
                self._try(delivery)
            if delivery.outcome is not None:
                self._finish(delivery, delivery.outcome)

    def _may_try(self, delivery: Delivery) -> bool:
        return self._clock() >= delivery.due_at and not self._backoff.wait_seconds()

    def _try(self, delivery: Delivery) -> None:
        began = time.monotonic()
        try:
            due = message(delivery.search, delivery.slot, delivery.result, delivery.attempt)
            delivery.outcome = sender_of(self._channel, self._dashboards).send(due)
        except Exception as error:  # its text may contain a secret
            delivery.outcome = Outcome(FAILED, f"unexpected {type(error).__name__}")
        delivery.seconds, delivery.token = time.monotonic() - began, new_token()
        self._backoff.record(delivery.outcome)

    def _finish(self, delivery: Delivery, outcome: Outcome) -> None:
        """Records the attempt. If that fails, it is tried again before the next attempt."""
        self._record(delivery, self._channel.name, outcome)
        if outcome.outcome == FAILED and delivery.attempt < MOST_ATTEMPTS:
            selection = self._channel.selection
            pause = self._backoff.pause_of(delivery.attempt, selection.retry_initial, selection.retry_max)
            delivery.due_at = self._clock() + max(pause, outcome.retry_after or 0)
            delivery.attempt += 1
            delivery.outcome = None
            return
        with self._lock:
            if self._waiting.get(delivery.key) is delivery:
                del self._waiting[delivery.key]
