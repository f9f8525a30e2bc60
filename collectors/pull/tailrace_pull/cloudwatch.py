"""The events of one log in Amazon CloudWatch Logs, as files: one for each log stream.

Source: API version 2014-03-28, FilterLogEvents. GetLogEvents returns no ids of events and asks for each
stream (ADR 0059).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tailrace_pull import aws
from tailrace_pull.events import CONTINUATION_MILLIS, Entries, LogEvent, entries
from tailrace_pull.hour_parts import Part
from tailrace_pull.late_events import Tally
from tailrace_pull.log import PulledLog
from tailrace_pull.look_back import LookBack
from tailrace_pull.matching import Numbers
from tailrace_pull.plural import counted
from tailrace_pull.reading import LineRun, Round
from tailrace_pull.remote import RemoteError
from tailrace_pull.state import LogState, PulledFile

MILLIS = 1000
DAY_SECONDS = 86_400
HISTORY_SECONDS = DAY_SECONDS
"""How old events may be that the first visit reads."""

MAX_PAGES = 50
"""A visit ends after so many pages, and the next one continues there: logs are stored together after their
visits, so a long visit delays them all."""

GROUPS = {"slowlog": "slowquery", "general": "general", "errorlog": "error", "audit": "audit"}
"""The last part of the name of the log group that RDS exports each kind of log to."""


def default_group(db_instance: str, source: str) -> str:
    """Returns the log group of an instance of RDS. That of Aurora has the name of the cluster."""
    return f"/aws/rds/instance/{db_instance}/{GROUPS[source]}"


def milliseconds(time: str) -> int:
    """Returns the time of a text such as 2026-11-26T12:00, UTC by default, in milliseconds since 1970.

    Raises ValueError.
    """
    read = datetime.fromisoformat(time)
    return int((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp() * MILLIS)


def read_by_another(log: PulledLog, states: Mapping[str, LogState]) -> int:
    """Returns the time up to which another entry read the same log, in milliseconds; 0 without one."""
    known = f"{log.instance}|{log.source}|"
    others = [state for key, state in states.items() if key.startswith(known) and key != log.key]
    return max((int(file.written_at * MILLIS) for state in others for file in state.files), default=0)


class CloudWatchLogs:
    """The streams of one server in a log group: that of its name, and those with its name and a suffix."""

    def __init__(self, client: Any, group: str, stream: str, since: int = 0) -> None:
        """`client` is one of boto3 for `logs`. The first visit reads from `since`, in milliseconds since
        1970 UTC; 0 for a day ago."""
        self._client = aws.with_plain_answers(client, "FilterLogEvents", ("events", "nextToken"))
        self._group = group
        self._stream = stream
        self._since = since

    def visit(self, state: LogState, new_number: Numbers, at: float, max_bytes: int) -> Round:
        """Reads events that are new, at most about `max_bytes` and `MAX_PAGES`. Raises RemoteError."""
        known, now = LookBack.from_text(state.memory), int(at * MILLIS)
        start = known.start(now, self._since or int((at - HISTORY_SECONDS) * MILLIS))
        is_whole = not known.token
        found = self._new_events(known, start, max_bytes)
        known.begin(start, now)
        known.continue_at(start, found.token if not found.events else "")
        done = Round(at, state.copy(), is_complete=found.is_complete)
        waits = now - CONTINUATION_MILLIS if found.is_complete else -1
        events = list(found.events.values())
        held = _add_entries(done, events, waits, known, new_number)
        newest = min(max((event.timestamp for event in events), default=0), now)
        known.advance(min(newest, held), start, now, found.is_complete, is_whole)
        if found.is_complete:
            self._read_again(
                done, known, max_bytes, max(MAX_PAGES // 2, MAX_PAGES - found.pages, 1), new_number
            )
        known.forget()
        done.state.files = _without_old(done.state.files, state.files)
        done.state.memory = known.to_text()
        return done

    def _read_again(
        self, done: Round, known: LookBack, max_bytes: int, max_pages: int, new_number: Numbers
    ) -> None:
        """Adds late events of a part of the hour that is due; after its last part, a gap for those that
        cannot be recognized. An error ends the part: it is continued at the next visit."""
        now = int(done.at * MILLIS)
        compared = known.past.comparison(now)
        hour = known.past.of(compared.start) if compared else None
        if compared is None or hour is None:
            return
        part = Part(compared, hour, known.seen, now - CONTINUATION_MILLIS, max_bytes)
        token, is_last = compared.token, False
        try:
            for number, page in enumerate(self._pages(compared.position, hour.end, compared.token), 1):
                is_enough = any(part.take(each) for each in page.events if self._belongs(each.stream))
                token, is_last = page.token, not (page.token or is_enough)
                if is_enough or (page.token and number >= max_pages and not part.is_within_entry):
                    done.is_complete = False
                    break
        except RemoteError:
            pass
        if is_last:
            part.end()
            if (unknown := known.past.end_comparison(now)).count:
                _leave_gap(done, _file(done.state, compared.stream, new_number), hour.start, unknown)
        else:
            part.pause(token)
        _add_entries(done, part.late, now - CONTINUATION_MILLIS, known, new_number)

    def _new_events(self, known: LookBack, start: int, max_bytes: int) -> "_Found":
        """Returns events that were not read.

        An error after the first pages leaves those pages: a throttled log is read slowly, not never. Raises
        RemoteError.
        """
        found = _Found()
        try:
            for page in self._pages(start, token=known.token):
                new = [each for each in page.events if not known.has(each) and self._belongs(each.stream)]
                for each in new:
                    found.events.setdefault(each.id, each)
                    max_bytes -= len(each.message)
                found.pages, found.token = found.pages + 1, page.token
                is_enough = max_bytes <= 0 or found.pages >= MAX_PAGES
                if is_enough and page.token and not (new and new[-1].may_be_split):
                    return found
            found.is_complete = True
        except RemoteError:
            if all(event.may_be_split for event in found.events.values()):
                raise
        return found

    def _pages(self, start: int, end: int | None = None, token: str = "") -> "Iterator[_Page]":
        """Yields pages from a token of an earlier listing; from `start` if there is none, or if the service
        no longer knows it. Times are milliseconds; `end` is the first one that is not asked for."""
        asked: dict[str, object] = {"startTime": max(0, start), "logStreamNamePrefix": self._stream}
        if end is not None:
            asked["endTime"] = end - 1  # the service includes it
        known = token
        while True:
            more = {"nextToken": token} if token else {}
            try:
                answer = aws.ask(
                    self._client, "FilterLogEvents", self._group, logGroupName=self._group, **asked, **more
                )
            except RemoteError as error:
                if type(error) is not RemoteError or not token or token != known:
                    raise
                token = known = ""
                continue
            token = answer.get("nextToken") or ""
            yield _Page([_event(each) for each in answer.get("events", ())], token)
            if not token:
                return

    def _belongs(self, stream: str) -> bool:
        return stream == self._stream or stream.startswith(f"{self._stream}.")


@dataclass(frozen=True)
class _Page:
    """A page of a listing. It may be empty and not be the last one."""

    events: list[LogEvent]
    token: str
    """Where the listing continues; empty after the last page."""


@dataclass
class _Found:
    """What a visit found of new events."""

    events: dict[str, LogEvent] = field(default_factory=dict)
    """By id."""
    pages: int = 0
    token: str = ""
    is_complete: bool = False
    """Whether these are all."""


def _event(answered: Mapping[str, Any]) -> LogEvent:
    return LogEvent(
        answered["logStreamName"],
        answered["timestamp"],
        answered.get("ingestionTime", answered["timestamp"]),
        answered["eventId"],
        answered["message"].encode(),
    )


NEVER = 1 << 62


def _add_entries(
    done: Round, events: list[LogEvent], waits: int, known: LookBack, new_number: Numbers
) -> int:
    """Adds the entries of each stream to its file. Returns the time of the first event that waits for its
    continuation, or NEVER."""
    streams: dict[str, list[LogEvent]] = {}
    for event in events:
        streams.setdefault(event.stream, []).append(event)
    now, added = int(done.at * MILLIS), 0
    for name, own in streams.items():
        ready = entries(own, waits)
        if ready.contents:
            _append(done, _file(done.state, name, new_number), ready)
        known.add(ready.events, now)
        added += len(ready.events)
    if added == len(events):
        return NEVER
    return min((event.timestamp for event in events if not known.has(event)), default=NEVER)


def _file(state: LogState, stream: str, new_number: Numbers) -> PulledFile:
    for file in state.files:
        if file.name == stream:
            return file
    state.files.append(PulledFile(new_number(), stream))
    return state.files[-1]


def _append(done: Round, file: PulledFile, ready: Entries) -> None:
    lines = b"".join(ready.contents)
    done.runs.append(LineRun(file, file.offset, lines))
    file.extend_head(lines)
    file.offset = file.size = file.read_size = file.offset + len(lines)
    newest = max([event.timestamp for event in ready.events])
    file.written_at = max(file.written_at, newest / MILLIS)


def _leave_gap(done: Round, file: PulledFile, start: int, unknown: Tally) -> None:
    """`start` is the time at which the hour begins, in milliseconds."""
    file.offset = file.size = file.read_size = file.offset + unknown.size
    begin = datetime.fromtimestamp(start / MILLIS, UTC)
    done.notes.append(
        f"{file.name}: {counted(unknown.count, 'late event')} of the hour from {begin:%Y-%m-%dT%H:%MZ} "
        f"cannot be distinguished from events that were read: a gap of {counted(unknown.size, 'byte')}"
    )


def _without_old(files: list[PulledFile], before: list[PulledFile]) -> list[PulledFile]:
    """Leaves out streams that ended: another one has events that are a day newer. A stream that has grown
    stays, because its lines need a census."""
    newest = max((file.written_at for file in files), default=0.0)
    offsets = {file.number: file.offset for file in before}
    return [
        file
        for file in files
        if file.written_at >= newest - DAY_SECONDS or file.offset != offsets.get(file.number)
    ]
