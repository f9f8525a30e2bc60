"""Verifies a request of a tool, and records its actions once, with the code of `tailrace alerts`."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from tailrace.alerts import triage
from tailrace.alerts.callbacks import signatures, tools
from tailrace.alerts.callbacks.config import CallbackConfig, Source
from tailrace.alerts.callbacks.signatures import Headers, UnauthenticatedError
from tailrace.alerts.callbacks.tools import Event, MalformedError, Requested
from tailrace.alerts.triage import Action, AlertError, StateError
from tailrace.clickhouse.client import ClickHouse, ClickHouseError

PATH = "/callbacks/"
REPORT_SECONDS = 60
"""Refusals of one source with one reason are reported at most once in this time, with their number."""

Report = Callable[[str], None]


@dataclass(frozen=True)
class Answer:
    """The answer to a request. `outcome` is a label of the metric; `detail` contains no secret."""

    status: HTTPStatus
    outcome: str
    detail: str = ""


DONE, DUPLICATE, IGNORED = "recorded", "duplicate", "ignored"
UNAUTHENTICATED, MALFORMED, UNKNOWN, CONFLICT, UNAVAILABLE = (
    *("unauthenticated", "malformed", "unknown", "conflict", "unavailable"),
)


class Callbacks:
    """Answers requests of the configured sources. `clock` returns seconds since 1970."""

    def __init__(
        self,
        config: CallbackConfig,
        clickhouse: ClickHouse,
        report: Report,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._counting = threading.Lock()
        self._sources = {source.name: source for source in config.sources}
        self._clickhouse = clickhouse
        self._log = RequestLog(report, clock)
        self._clock = clock
        self._lock = threading.Lock()
        """To look for a recorded request and to record it must not happen twice at the same time."""

    def answer(self, path: str, headers: Headers, body: bytes, client: str) -> Answer:
        """Answers a POST. `client`: the address of the connection, for the log."""
        source = self._sources.get(path.removeprefix(PATH)) if path.startswith(PATH) else None
        found = self._answer(source, headers, body)
        self.note(source.name if source else "", found, client)
        return found

    def note(self, source: str, answer: Answer, client: str) -> None:
        """Counts an answer and reports it to the log."""
        with self._counting:
            self._counts[source, answer.outcome] += 1
        self._log.note(source, answer, client)

    def counts(self) -> dict[tuple[str, str], int]:
        """Returns the number of answers by source and outcome; the source is empty if none is configured."""
        with self._counting:
            return dict(self._counts)

    def _answer(self, source: Source | None, headers: Headers, body: bytes) -> Answer:
        if source is None:
            return Answer(HTTPStatus.NOT_FOUND, UNKNOWN, "no such source")
        try:
            return self._record(source, self._verified(source, headers, body))
        except UnauthenticatedError as error:
            return Answer(HTTPStatus.UNAUTHORIZED, UNAUTHENTICATED, str(error))
        except MalformedError as error:
            return Answer(HTTPStatus.BAD_REQUEST, MALFORMED, str(error))
        except StateError as error:
            return Answer(HTTPStatus.CONFLICT, CONFLICT, str(error))
        except AlertError:
            return Answer(HTTPStatus.NOT_FOUND, UNKNOWN, "no such alert")
        except (OSError, ClickHouseError) as error:
            return Answer(HTTPStatus.SERVICE_UNAVAILABLE, UNAVAILABLE, type(error).__name__)

    def _verified(self, source: Source, headers: Headers, body: bytes) -> Event:
        """Returns the event of a request that comes from the tool and is not too old."""
        secrets = [line.strip() for line in source.secret_file.read_bytes().splitlines() if line.strip()]
        now = self._clock()
        signatures.verify(source.kind, secrets, headers, body, now, source.max_age)
        event = tools.read(source, body)
        if event.at is not None:
            signatures.check_age(event.at, now, source.max_age)
        return event

    def _record(self, source: Source, event: Event) -> Answer:
        if not event.actions or event.user in source.ignore_users:
            return Answer(HTTPStatus.ACCEPTED, IGNORED, event.ignored or "by a user that is ignored")
        with self._lock:
            done = [self._record_once(source, event, each) for each in event.actions]
        if not any(done):
            return Answer(HTTPStatus.OK, DUPLICATE, "recorded before")
        actions = ", ".join(f"{each.action} of {each.alert_id[:8]}" for each in event.actions)
        return Answer(HTTPStatus.OK, DONE, f"{actions} by {source.actor_prefix}:{event.user}")

    def _record_once(self, source: Source, event: Event, requested: Requested) -> bool:
        """Records an action unless it is recorded; returns whether it did."""
        key = f"{source.name}/{event.key}/{requested.action}"
        if triage.is_recorded(self._clickhouse, requested.alert_id, key):
            return False
        action = Action(
            action=requested.action,
            actor=f"{source.actor_prefix}:{event.user}",
            reason=requested.reason,
            assignee=requested.assignee,
            verdict=requested.verdict,
            channel=source.channel,
            request=key,
        )
        triage.record_action(self._clickhouse, [requested.alert_id], action)
        return True


@dataclass
class RequestLog:
    """Reports each recorded action, and refusals at most once a minute per source and reason.

    A client without a secret can cause any number of refusals, which must not fill the disk.
    """

    report: Report
    clock: Callable[[], float]
    _since: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)
    """By source and reason: the time of the last report, and the refusals after it."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, source: str, answer: Answer, client: str) -> None:
        if answer.outcome == DONE:
            self.report(f"{source}: {answer.detail}")
            return
        with self._lock:
            before = self._due(source, answer)
        if before is not None:
            more = f", {before} more since the last report" if before else ""
            what = f"{answer.outcome} ({answer.status.value}): {answer.detail}"
            self.report(f"{source or 'unknown source'}: {what}, from {client}{more}")

    def _due(self, source: str, answer: Answer) -> int | None:
        """Returns the number of unreported refusals if they are to be reported now."""
        now, kind = self.clock(), (source, answer.outcome)
        at, more = self._since.get(kind, (-float("inf"), 0))
        if now - at < REPORT_SECONDS:
            self._since[kind] = at, more + 1
            return None
        self._since[kind] = now, 0
        return more


def metrics(counts: dict[tuple[str, str], int], sources: Sequence[Source]) -> str:
    """Returns the metric of all answers in Prometheus' text format, with a zero for each source."""
    shown = {(source.name, DONE): 0 for source in sources} | dict(counts)
    lines = [
        f'tailrace_callback_requests_total{{source="{source}",outcome="{outcome}"}} {number}'
        for (source, outcome), number in sorted(shown.items())
    ]
    help_ = "# HELP tailrace_callback_requests_total Requests of tools that act on alerts, by outcome."
    return "\n".join([help_, "# TYPE tailrace_callback_requests_total counter", *lines, ""])
