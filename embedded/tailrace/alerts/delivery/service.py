"""The loop: pass after pass over the alerts, for each channel in a thread of its own, until told to stop.

Most passes look at alerts of the last quarter of an hour; one a minute at those of the last 30 days, so that
nothing is left out that appeared while ClickHouse, a receiver or the service itself was down. A receiver that
is away is left alone for a while that doubles; one that is slow holds up nobody but itself.
"""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.alerts.delivery.config import Channel, DeliveryConfig, Email
from tailrace.alerts.delivery.delivery_log import FAILED, Due, Outcome, Progress
from tailrace.alerts.delivery.mail import MailSender
from tailrace.alerts.delivery.webhook import WebhookSender
from tailrace.clickhouse.client import ClickHouse, ClickHouseError

QUICK_WINDOW_SECONDS = 15 * 60
FULL_WINDOW_SECONDS = 30 * 86_400
FULL_EVERY_SECONDS = 60
POLL_SECONDS = 2
MAX_REQUESTS = 200
"""In one pass, for a webhook."""
MAX_IN_A_SUMMARY = 2000
FAILURES_IN_A_ROW = 3
"""After so many the receiver is taken to be away."""
MAX_PAUSE_SECONDS = 60
SUMMARY_EVERY_SECONDS = 600

Report = Callable[[str], None]


@dataclass
class ChannelStatus:
    """How a channel does."""

    passes: int = 0
    """That it has finished."""
    at: float = field(default_factory=time.time)
    """When it last finished a pass or an attempt, seconds since 1970."""
    problem: str = ""
    """Why it cannot know what is due; empty when it can."""


class Service:
    """Delivers the alerts of one ClickHouse."""

    def __init__(
        self, config: DeliveryConfig, clickhouse: ClickHouse, heartbeat: Path, report: Report
    ) -> None:
        self._stop = threading.Event()
        self._heartbeat = heartbeat
        self._workers = [
            ChannelWorker(channel, config.dashboards, clickhouse, self._stop, report)
            for channel in config.channels
        ]

    def stop(self) -> None:
        """Ends `run` after the attempts that are being made."""
        self._stop.set()

    def run(self) -> bool:
        """Returns when stopped, or false when a channel's thread has ended by an error.

        The heartbeat's file holds the pulse of each channel as JSON.
        """
        threads = [
            threading.Thread(target=worker.run, name=worker.name, daemon=True) for worker in self._workers
        ]
        self._write_heartbeat()
        for thread in threads:
            thread.start()
        while not self._stop.wait(POLL_SECONDS / 2) and all(thread.is_alive() for thread in threads):
            self._write_heartbeat()
        is_ordered = self._stop.is_set()
        self._stop.set()
        for thread in threads:
            thread.join()
        return is_ordered

    def _write_heartbeat(self) -> None:
        draft = self._heartbeat.with_suffix(".draft")
        draft.write_text(json.dumps({worker.name: vars(worker.status) for worker in self._workers}))
        draft.replace(self._heartbeat)


class ChannelWorker:
    """One channel: what is due is sent, and what became of it is written down."""

    def __init__(
        self,
        channel: Channel,
        dashboards: str,
        clickhouse: ClickHouse,
        stop: threading.Event,
        report: Report,
    ) -> None:
        self.name = channel.name
        self.status = ChannelStatus()
        self._channel = channel
        self._progress = Progress(clickhouse, channel.name, channel.selection)
        self._sender = _sender(channel, dashboards)
        self._stop = stop
        self._report = report
        self._full_at = 0.0
        self._pause_seconds = POLL_SECONDS
        self._unwritten: list[tuple[list[Due], Outcome]] = []
        """What was sent and could not be written down yet: comes first, or it would be sent twice."""

    def run(self) -> None:
        """Passes until stopped."""
        while not self._stop.is_set():
            self._set_problem(self._pass())
            self.status.passes += 1
            self._stop.wait(self._pause_seconds)

    def _pass(self) -> str:
        """What is wrong with ClickHouse, if anything is."""
        try:
            self._write_down()
            self._send_due()
        except (OSError, ClickHouseError) as error:
            return f"ClickHouse cannot be asked: {error}"
        return ""

    def _set_problem(self, problem: str) -> None:
        if problem != self.status.problem:
            self._report(f"{self.name}: {problem or 'ClickHouse answers again'}")
        self.status.problem = problem
        self.status.at = time.time()

    def _send_due(self) -> None:
        is_full = time.monotonic() >= self._full_at
        window = FULL_WINDOW_SECONDS if is_full else QUICK_WINDOW_SECONDS
        most = MAX_IN_A_SUMMARY if isinstance(self._sender, MailSender) else MAX_REQUESTS
        due = self._progress.due(window, most)
        if is_full and len(due) < most:
            self._full_at = time.monotonic() + FULL_EVERY_SECONDS
        if isinstance(self._sender, MailSender):
            due = self._summarise(self._sender, due)
        self._send_each(due)

    def _summarise(self, sender: MailSender, due: list[Due]) -> list[Due]:
        """Those that go out one by one; more than the hour allows go out together, or wait for that."""
        sent, since_summary = self._progress.mails() if due else (0, 0)
        if len(due) <= max(0, self._channel.at_most_per_hour - sent):
            return due
        if since_summary >= SUMMARY_EVERY_SECONDS:
            self._done(due, sender.send_summary(due))
        return []

    def _send_each(self, due: list[Due]) -> None:
        failures = 0
        for each in due:
            if self._stop.is_set() or failures == FAILURES_IN_A_ROW:
                break
            outcome = self._try(each)
            self._done([each], outcome)
            failures = failures + 1 if outcome.outcome == FAILED else 0
        longer = min(MAX_PAUSE_SECONDS, 2 * self._pause_seconds)
        self._pause_seconds = longer if failures == FAILURES_IN_A_ROW else POLL_SECONDS

    def _try(self, due: Due) -> Outcome:
        """One alert that nobody thought of must not keep all others from being told."""
        try:
            return self._sender.send(due)
        except Exception as error:  # its text may hold what no log should
            return Outcome(FAILED, f"unexpected {type(error).__name__}")

    def _done(self, tried: list[Due], outcome: Outcome) -> None:
        for due in tried:
            what = f"{due.id[:8]} count {due.alert['count']}, attempt {due.attempt}"
            self._report(f"{self.name}: {what}: {outcome.outcome}: {outcome.detail}")
        self.status.at = time.time()
        self._unwritten.append((tried, outcome))
        self._write_down()

    def _write_down(self) -> None:
        while self._unwritten:
            self._progress.record(*self._unwritten[0])
            self._unwritten.pop(0)


def _sender(channel: Channel, dashboards: str) -> WebhookSender | MailSender:
    return (
        MailSender(channel, dashboards) if isinstance(channel, Email) else WebhookSender(channel, dashboards)
    )
