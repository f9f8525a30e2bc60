"""Delivers alerts in a loop, with one thread per channel, until it is stopped.

Most passes read the alerts of the last 15 minutes. One pass a minute reads those of the last 30 days, so that
alerts from an outage of ClickHouse, a receiver or the service are delivered too. After failures a channel is
paused (`tailrace.outputs.backoff`). A slow receiver delays only its own channel.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tailrace import replaced_file
from tailrace.alerts.delivery.config import Channel, DeliveryConfig, Email, HttpService, Output, Syslog
from tailrace.alerts.delivery.delivery_log import DELIVERED, FAILED, Due, Outcome, Progress
from tailrace.alerts.delivery.jira import JiraSender
from tailrace.alerts.delivery.mail import MailSender
from tailrace.alerts.delivery.output_sender import OutputSender
from tailrace.alerts.delivery.servicenow import ServiceNowSender
from tailrace.alerts.delivery.services import ServiceSender
from tailrace.alerts.delivery.syslog import SyslogSender
from tailrace.alerts.delivery.tickets import Jira, ServiceNow
from tailrace.alerts.delivery.webhook import WebhookSender
from tailrace.clickhouse.client import ClickHouse, ClickHouseError, new_token
from tailrace.outputs.backoff import Backoff

QUICK_WINDOW_SECONDS = 15 * 60
FULL_WINDOW_SECONDS = 30 * 86_400
FULL_EVERY_SECONDS = 60
POLL_SECONDS = 2
MAX_REQUESTS = 200
"""Deliveries in one pass, for a webhook."""
MAX_IN_A_SUMMARY = 2000
FAILURES_IN_A_ROW = 3
"""After this many consecutive failures the receiver counts as unavailable."""
MAX_PAUSE_SECONDS = 60
"""So a new alert waits for at most a minute after its receiver answers again."""
LOOK_SECONDS = 10
"""The heartbeat of a paused channel."""
SUMMARY_EVERY_SECONDS = 600

Report = Callable[[str], None]


@dataclass
class ChannelStatus:
    """The status of a channel."""

    passes: int = 0
    """The number of finished passes."""
    at: float = field(default_factory=time.time)
    """The end of the last pass or attempt, in seconds since 1970."""
    problem: str = ""
    """The reason why due alerts cannot be read; empty if they can."""


class Service:
    """Delivers the alerts of one ClickHouse server."""

    def __init__(
        self,
        config: DeliveryConfig,
        clickhouse: ClickHouse,
        heartbeat: Path,
        report: Report,
        others: Sequence[Callable[[threading.Event], None]] = (),
        backoffs: Mapping[str, Backoff] | None = None,
    ) -> None:
        """`others` run in a thread each until the event is set. `backoffs`: those of `backoffs_of`."""
        self._others = others
        self._stop = threading.Event()
        self._heartbeat = heartbeat
        self._backoffs = backoffs or backoffs_of(config)
        self._workers = [
            ChannelWorker(
                channel, config.dashboards, clickhouse, self._stop, report, self._backoffs[channel.name]
            )
            for channel in config.channels
            if not isinstance(channel, Output) or channel.has_alerts
        ]

    def stop(self) -> None:
        """Ends `run` after the running attempts."""
        self._stop.set()

    def run(self) -> bool:
        """Returns true when stopped, false when a channel's thread ended with an error.

        The heartbeat file contains the status of each channel as JSON.
        """
        threads = [
            threading.Thread(target=worker.run, name=worker.name, daemon=True) for worker in self._workers
        ]
        threads += [threading.Thread(target=run, args=(self._stop,), daemon=True) for run in self._others]
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
        states = {
            worker.name: {**asdict(self._backoffs[worker.name].state), **vars(worker.status)}
            for worker in self._workers
        }
        replaced_file.write(self._heartbeat, json.dumps(states))


def backoffs_of(config: DeliveryConfig) -> dict[str, Backoff]:
    """Returns the pauses of each channel by its name, which all threads that send to it share.

    A receiver of batches is paused after a failure; another one after several in a row, because a failure may
    be due to one alert.
    """
    return {
        channel.name: Backoff(
            2 * POLL_SECONDS,
            MAX_PAUSE_SECONDS,
            1 if isinstance(channel, Output) else FAILURES_IN_A_ROW,
        )
        for channel in config.channels
    }


class ChannelWorker:
    """Sends the due alerts of one channel and records the outcomes."""

    def __init__(
        self,
        channel: Channel,
        dashboards: str,
        clickhouse: ClickHouse,
        stop: threading.Event,
        report: Report,
        backoff: Backoff,
    ) -> None:
        self.name = channel.name
        self.status = ChannelStatus()
        self._channel = channel
        resolves = getattr(channel, "resolves", False)
        self._progress = Progress(clickhouse, channel.name, channel.selection, resolves)
        self._sender = sender_of(channel, dashboards)
        self._stop = stop
        self._report = report
        self._full_at = 0.0
        self._backoff = backoff
        self._unwritten: list[tuple[list[Due], Outcome, str]] = []
        """Outcomes that are not recorded yet. They are written first, or the alerts would be sent twice.
        Each has a token: an outcome whose insert was not answered may be stored."""

    def run(self) -> None:
        """Runs passes until it is stopped. A paused channel waits, and reports that it does."""
        while not self._stop.is_set():
            if wait := self._backoff.wait_seconds():
                self.status.at = time.time()
                self._stop.wait(min(wait, LOOK_SECONDS))
                continue
            self._set_problem(self._pass())
            self.status.passes += 1
            self._stop.wait(POLL_SECONDS)

    def _pass(self) -> str:
        """Runs one pass; returns a problem with ClickHouse, or an empty text."""
        try:
            self._write_down()
            self._send_due()
        except (OSError, ClickHouseError) as error:
            return f"cannot query ClickHouse: {error}"
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
        if isinstance(self._sender, OutputSender):
            self._send_together(self._sender, due)
        else:
            self._send_each(due)

    def _summarise(self, sender: MailSender, due: list[Due]) -> list[Due]:
        """Returns the alerts to send one by one. Those above the hourly limit go into a summary or wait for
        it."""
        sent, since_summary = self._progress.mails() if due else (0, 0)
        if len(due) <= max(0, self._channel.max_per_hour - sent):
            return due
        if since_summary >= SUMMARY_EVERY_SECONDS:
            outcome = sender.send_summary(due)
            self._backoff.record(outcome)
            self._done(due, outcome)
        return []

    def _send_together(self, sender: OutputSender, due: list[Due]) -> None:
        """Sends all alerts in one batch. One that its receiver refuses does not hold up the others."""
        outcomes = sender.send_all(due)
        for outcome in dict.fromkeys(outcomes):
            self._done([each for each, its in zip(due, outcomes, strict=True) if its == outcome], outcome)
        if outcomes:
            self._backoff.record(next((each for each in outcomes if each.outcome == FAILED), outcomes[0]))

    def _send_each(self, due: list[Due]) -> None:
        for each in due:
            if self._stop.is_set() or self._backoff.wait_seconds():
                break
            outcome = self._try(each)
            if not each.is_closed_there:
                self._backoff.record(outcome)
            self._done([each], outcome)

    def _try(self, due: Due) -> Outcome:
        """Sends one alert. An unexpected error must not stop the delivery of all others."""
        if due.is_closed_there:
            return Outcome(DELIVERED, "closed by the receiver")
        try:
            return self._sender.send(due)
        except Exception as error:  # its text may contain a secret
            return Outcome(FAILED, f"unexpected {type(error).__name__}")

    def _done(self, tried: list[Due], outcome: Outcome) -> None:
        for due in tried:
            what = f"{due.id[:8]} count {due.alert['count']}, attempt {due.attempt}"
            self._report(f"{self.name}: {what}: {outcome.outcome}: {outcome.detail}")
        self.status.at = time.time()
        self._unwritten.append((tried, outcome, new_token()))
        self._write_down()

    def _write_down(self) -> None:
        while self._unwritten:
            self._progress.record(*self._unwritten[0])
            self._unwritten.pop(0)


Sender = (
    WebhookSender | ServiceSender | SyslogSender | MailSender | JiraSender | ServiceNowSender | OutputSender
)


def sender_of(channel: Channel, dashboards: str) -> Sender:
    """Returns the object that makes the attempts of a channel. `dashboards`: base URL of links."""
    match channel:
        case Email():
            return MailSender(channel, dashboards)
        case Syslog():
            return SyslogSender(channel, dashboards)
        case HttpService():
            return ServiceSender(channel, dashboards)
        case Jira():
            return JiraSender(channel, dashboards)
        case ServiceNow():
            return ServiceNowSender(channel, dashboards)
        case Output():
            return OutputSender(channel, dashboards)
        case _:
            return WebhookSender(channel, dashboards)
