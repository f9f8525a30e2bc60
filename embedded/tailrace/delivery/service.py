"""The loop: pass after pass over the channels, until told to stop.

Most passes look at alerts of the last quarter of an hour; one a minute at those of the last 30 days, so that
nothing is left out that appeared while ClickHouse, a receiver or the service itself was down. A channel whose
receiver is away is left alone for a while that doubles, and does not hold up the others.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.clickhouse import ClickHouse, ClickHouseError
from tailrace.delivery.config import Channel, DeliveryConfig, Email
from tailrace.delivery.mail import MailSender
from tailrace.delivery.progress import FAILED, Due, Outcome, Progress
from tailrace.delivery.webhook import WebhookSender

QUICK_WINDOW_SECONDS = 15 * 60
FULL_WINDOW_SECONDS = 30 * 86_400
FULL_EVERY_SECONDS = 60
POLL_SECONDS = 2
MOST_AT_ONCE = 200
FAILURES_IN_A_ROW = 3
"""After so many the receiver is taken to be away."""
LONGEST_PAUSE_SECONDS = 60
SUMMARY_EVERY_SECONDS = 600

Say = Callable[[str], None]


@dataclass
class _Lane:
    """One channel and when it is its turn again; times of time.monotonic."""

    channel: Channel
    progress: Progress
    sender: WebhookSender | MailSender
    paused_until: float = 0
    pause_seconds: float = POLL_SECONDS
    full_at: float = 0
    unwritten: list[tuple[list[Due], Outcome]] = field(default_factory=list)
    """What was sent and could not be written down yet: first of all, or it is sent twice."""


class Service:
    """Delivers alerts of one ClickHouse."""

    def __init__(self, config: DeliveryConfig, clickhouse: ClickHouse, beat: Path, say: Say) -> None:
        self._lanes = [_lane(channel, config.dashboards, clickhouse) for channel in config.channels]
        self._beat = beat
        self._say = say
        self._stop = threading.Event()

    def stop(self) -> None:
        """Ends `run` after the attempt that is being made."""
        self._stop.set()

    def run(self) -> None:
        """Returns when stopped. The heartbeat's file holds what is wrong, and is empty when nothing is."""
        while not self._stop.is_set():
            self._beat.write_text(self._pass())
            self._stop.wait(POLL_SECONDS)

    def _pass(self) -> str:
        for lane in self._lanes:
            if self._stop.is_set() or time.monotonic() < lane.paused_until:
                continue
            try:
                self._serve(lane)
            except (OSError, ClickHouseError) as error:
                self._say(f"ClickHouse cannot be asked: {error}")
                return f"ClickHouse cannot be asked: {error}"
        return ""

    def _serve(self, lane: _Lane) -> None:
        self._write_down(lane)
        is_full = time.monotonic() >= lane.full_at
        window = FULL_WINDOW_SECONDS if is_full else QUICK_WINDOW_SECONDS
        due = lane.progress.due(window, MOST_AT_ONCE)
        if is_full and len(due) < MOST_AT_ONCE:
            lane.full_at = time.monotonic() + FULL_EVERY_SECONDS
        if isinstance(lane.sender, MailSender):
            due = self._summarise(lane, lane.sender, due)
        self._send_each(lane, due)

    def _summarise(self, lane: _Lane, sender: MailSender, due: list[Due]) -> list[Due]:
        """Those that go out one by one; more than the hour allows go out together, or wait for that."""
        sent, since_summary = lane.progress.mails()
        if len(due) <= lane.channel.at_most_per_hour - sent:
            return due
        if since_summary >= SUMMARY_EVERY_SECONDS:
            self._done(lane, due, sender.send_summary(due))
        return []

    def _send_each(self, lane: _Lane, due: list[Due]) -> None:
        failures = 0
        for each in due:
            if self._stop.is_set():
                return
            outcome = lane.sender.send(each)
            self._done(lane, [each], outcome)
            failures = failures + 1 if outcome.outcome == FAILED else 0
            if failures == FAILURES_IN_A_ROW:
                self._pause(lane)
                return
        if due and not failures:
            lane.pause_seconds = POLL_SECONDS

    def _pause(self, lane: _Lane) -> None:
        lane.pause_seconds = min(LONGEST_PAUSE_SECONDS, 2 * lane.pause_seconds)
        lane.paused_until = time.monotonic() + lane.pause_seconds

    def _done(self, lane: _Lane, tried: list[Due], outcome: Outcome) -> None:
        for due in tried:
            what = f"{due.id[:8]} count {due.alert['count']}, attempt {due.attempt}"
            self._say(f"{lane.channel.name}: {what}: {outcome.outcome}: {outcome.detail}")
        lane.unwritten.append((tried, outcome))
        self._write_down(lane)

    def _write_down(self, lane: _Lane) -> None:
        while lane.unwritten:
            lane.progress.record(*lane.unwritten[0])
            lane.unwritten.pop(0)


def _lane(channel: Channel, dashboards: str, clickhouse: ClickHouse) -> _Lane:
    sender = MailSender if isinstance(channel, Email) else WebhookSender
    return _Lane(channel, Progress(clickhouse, channel.name, channel.selection), sender(channel, dashboards))
