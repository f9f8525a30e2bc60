"""Runs scheduled searches that are due, one after the other, and records every attempt.

One thread runs them, so no run overlaps another one. A search is read as the account of its role and never
as another one. Results are sent by the outbox of each channel. What a killed service had not sent is searched
and sent again: the recorded attempts say what is missing.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from tailrace.alerts.delivery.config import DeliveryConfig
from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.clickhouse.query_files import text_of
from tailrace.outputs.backoff import Backoff
from tailrace.outputs.record import FAILED, Outcome
from tailrace.search.errors import DeniedError, SearchError
from tailrace.search.over_http import rows_of
from tailrace.search.scheduled import saved
from tailrace.search.scheduled.found import Found, found
from tailrace.search.scheduled.message import missed_text
from tailrace.search.scheduled.outbox import MOST_ATTEMPTS, Delivery, Outbox
from tailrace.search.scheduled.saved import SavedSearch
from tailrace.search.scheduled.slots import Slot, due
from tailrace.search.sources import ROLES

TABLE = (
    "tailrace.search_runs "
    "(owner, name, until, since, role, channel, attempt, outcome, events, missed, seconds, detail)"
)
"""With the columns that the service may write."""
POLL_SECONDS = 30
SEARCH_SECONDS = 60
MAX_DETAIL = 500
NOTHING, DENIED, ERROR, MISSED = "nothing", "denied", "error", "missed"

Report = Callable[[str], None]


class Runner:
    """Runs searches of one ClickHouse server.

    `service` reads the searches and records their runs; `connect` returns the access of the account of a
    role, and raises OSError if there is none. `backoffs`: the pauses of each channel by its name.
    """

    def __init__(
        self,
        service: ClickHouse,
        connect: Callable[[str], ClickHouse],
        config: DeliveryConfig,
        backoffs: Mapping[str, Backoff],
        report: Report,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.service, self.connect, self.report = service, connect, report
        self.outboxes = {
            each.name: Outbox(each, config.dashboards, backoffs[each.name], self._sent, report, clock)
            for each in config.channels
        }

    @property
    def threads(self) -> list[Callable[[threading.Event], None]]:
        """What must run at the same time, each until the event is set."""
        return [self.run, *(outbox.run for outbox in self.outboxes.values())]

    def run(self, stop: threading.Event) -> None:
        """Runs what is due until it is stopped."""
        problem = ""
        while not stop.is_set():
            before, problem = problem, self._pass()
            if problem != before:
                self.report(f"scheduled searches: {problem or 'all run again'}")
            stop.wait(POLL_SECONDS)

    def _pass(self) -> str:
        try:
            return self.run_due(datetime.now(UTC))
        except (OSError, ClickHouseError) as error:
            return f"cannot query ClickHouse: {error}"

    def run_due(self, now: datetime) -> str:
        """Runs each search whose run is due at this time; returns why others cannot run, empty if all can.

        Raises OSError and ClickHouseError if the service's own account cannot read or write.
        """
        problems: list[str] = []
        searches = [each for each in saved.load(self.service, problems.append) if each.runs]
        for outbox in self.outboxes.values():
            outbox.keep(searches)
        for search in searches:
            slot = due(search, now) or _latest(search)
            if slot is not None:
                self._run(search, slot)
        return "; ".join(problems)

    def _run(self, search: SavedSearch, slot: Slot) -> None:
        # Before the attempts: a result that leaves its outbox between the two is recorded in them.
        on_their_way = {name for name, outbox in self.outboxes.items() if outbox.has(search, slot)}
        attempts = self._attempts(search, slot)
        waiting = [
            name for name in search.channels if name not in on_their_way and _needs_result(attempts.get(name))
        ]
        searched, outcome = attempts.get("", (0, ""))
        if not waiting or outcome in (NOTHING, DENIED) or searched >= MOST_ATTEMPTS:
            return
        began = time.monotonic()
        slot = self._with_missed(search, slot, began)
        try:
            result = found(rows_of(self._reader(search), max_execution_time=SEARCH_SECONDS), search, slot)
        except DeniedError as error:
            self._record(search, slot, "", DENIED, str(error), began, searched + 1)
        except (SearchError, ClickHouseError, OSError) as error:
            self._record(search, slot, "", ERROR, str(error), began, searched + 1)
        else:
            self._deliver(search, slot, result, waiting, attempts, began)

    def _with_missed(self, search: SavedSearch, slot: Slot, began: float) -> Slot:
        """Records the runs that were missed before this one, once, and before the search, which may fail.

        Returns the slot with them: a later attempt no longer finds them from the last run.
        """
        given = {"owner": search.owner, "name": search.name, "until": int(slot.until.timestamp())}
        (row,) = self.service.rows(text_of("search_runs_missed"), given)
        if number := int(row["missed"]):
            since = datetime.fromtimestamp(int(row["since_seconds"]), UTC)
            return replace(slot, missed=number, missed_since=since)
        if slot.missed:
            uncovered = replace(slot, since=slot.missed_since)
            self._record(search, uncovered, "", MISSED, missed_text(slot), began, 1, missed=slot.missed)
        return slot

    def _deliver(
        self,
        search: SavedSearch,
        slot: Slot,
        result: Found,
        waiting: list[str],
        attempts: Mapping[str, tuple[int, str]],
        began: float,
    ) -> None:
        """Hands a result to the outboxes of its channels, whose threads send it."""
        if result.events < search.schedule.min_events and not slot.missed:
            self._record(search, slot, "", NOTHING, "", began, 1, events=result.events)
            return
        for name in waiting:
            attempt = attempts.get(name, (0, ""))[0] + 1
            if name in self.outboxes:
                self.outboxes[name].add(Delivery(search, slot, result, attempt))
            else:
                missing = f"alerts.yaml has no channel {name}"
                self._record(search, slot, name, FAILED, missing, began, attempt, events=result.events)

    def _sent(self, delivery: Delivery, channel: str, outcome: Outcome) -> None:
        """Records an attempt of an outbox."""
        began = time.monotonic() - delivery.seconds
        detail, events = outcome.detail, delivery.result.events
        if outcome.outcome == FAILED and delivery.attempt >= MOST_ATTEMPTS:
            detail = f"given up after {MOST_ATTEMPTS} attempts: {detail}"
        self._record(
            *(delivery.search, delivery.slot, channel, outcome.outcome, detail, began, delivery.attempt),
            events=events,
            token=delivery.token,
        )

    def _reader(self, search: SavedSearch) -> ClickHouse:
        """Raises OSError if the password of the role's account is not there."""
        return self.connect(ROLES[search.role].account)

    def _attempts(self, search: SavedSearch, slot: Slot) -> dict[str, tuple[int, str]]:
        given = {"owner": search.owner, "name": search.name, "until": int(slot.until.timestamp())}
        found_rows = self.service.rows(text_of("search_run_attempts"), given)
        return {row["channel"]: (int(row["attempts"]), row["last_outcome"]) for row in found_rows}

    def _record(
        self,
        search: SavedSearch,
        slot: Slot,
        channel: str,
        outcome: str,
        detail: str,
        began: float,
        attempt: int,
        events: int = 0,
        missed: int = 0,
        token: str = "",
    ) -> None:
        row = {"owner": search.owner, "name": search.name, "role": search.role, "channel": channel}
        row |= {"until": int(slot.until.timestamp()), "since": int(slot.since.timestamp())}
        row |= {
            "attempt": attempt,
            "outcome": outcome,
            "events": events,
            "missed": missed,
            "detail": detail[:MAX_DETAIL],
        }
        self.service.append(TABLE, [{**row, "seconds": round(time.monotonic() - began, 3)}], token)
        said = f" to {channel}" if channel else ""
        self.report(f"scheduled search {search.name} of {search.owner}{said}: {outcome}: {detail}")


def _needs_result(attempts: tuple[int, str] | None) -> bool:
    """Returns whether a channel with this number of attempts and last outcome must receive the result."""
    number, outcome = attempts or (0, FAILED)
    return outcome == FAILED and number < MOST_ATTEMPTS


def _latest(search: SavedSearch) -> Slot | None:
    """Returns the last run again, of which a channel may have failed."""
    if search.last_until is None or search.last_until <= search.scheduled_at:
        return None
    since = search.last_until - search.every
    return Slot(since, search.last_until, 0, since)
