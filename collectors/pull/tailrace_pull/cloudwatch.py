"""The events of one log in Amazon CloudWatch Logs, as files: one for each log stream.

Source: API version 2014-03-28, FilterLogEvents. GetLogEvents returns no ids of events and asks for each
stream (ADR 0059).
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from tailrace_pull import aws
from tailrace_pull.events import CONTINUATION_MILLIS, Entry, LogEvent, entries
from tailrace_pull.late_events import Comparison, Hour, Tally
from tailrace_pull.log import PulledLog
from tailrace_pull.look_back import LookBack
from tailrace_pull.matching import Numbers
from tailrace_pull.reading import LineRun, Round
from tailrace_pull.remote import RemoteError
from tailrace_pull.state import LogState, PulledFile

MILLIS = 1000
DAY_SECONDS = 86_400
HISTORY_SECONDS = DAY_SECONDS
"""How old events may be that the first visit reads."""

MAX_PAGES = 50
"""After so many pages a visit ends once it has new events: a log may grow faster than it is read."""

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
        self._client = client
        self._group = group
        self._stream = stream
        self._since = since

    def visit(self, state: LogState, new_number: Numbers, at: float, max_bytes: int) -> Round:
        """Reads events that are new, at most about `max_bytes`. Raises RemoteError."""
        known, now = LookBack.from_text(state.memory), int(at * MILLIS)
        start = known.start(now, self._since or int((at - HISTORY_SECONDS) * MILLIS))
        events, is_complete = self._new_events(known, start, max_bytes)
        known.begin(start, now)
        done = Round(at, state.copy(), is_complete=is_complete)
        waits = now - CONTINUATION_MILLIS if is_complete else -1
        held = _add_entries(done, events, waits, known, new_number)
        read = [min(event.timestamp, now) for event in events]
        known.advance(min(max(read, default=0), held), start, now if is_complete else None)
        if is_complete and (hour := known.past.due(now)):
            self._read_again(done, hour, known, max_bytes, new_number)
        known.forget()
        done.state.files = _without_old(done.state.files, state.files)
        done.state.memory = known.to_text()
        return done

    def _read_again(
        self, done: Round, hour: Hour, known: LookBack, max_bytes: int, new_number: Numbers
    ) -> None:
        """Adds the late events of an hour, and a gap for those that cannot be recognized. An error changes
        nothing: the hour remains due."""
        now = int(done.at * MILLIS)
        found = Comparison(hour, known.seen, now - CONTINUATION_MILLIS, max_bytes)
        try:
            pages = self._pages(hour.start, hour.end)
            found.take(each for page, _ in pages for each in page if self._belongs(each.stream))
        except RemoteError:
            return
        found.end(known.past, now)
        if found.unknown.count:
            _leave_gap(done, _file(done.state, found.stream, new_number), hour, found.unknown)
        _add_entries(done, found.late, now - CONTINUATION_MILLIS, known, new_number)

    def _new_events(self, known: LookBack, start: int, max_bytes: int) -> tuple[list[LogEvent], bool]:
        """Returns events that were not read, and whether these are all.

        An error after the first pages leaves those pages: a throttled log is read slowly, not never. Raises
        RemoteError.
        """
        events: dict[str, LogEvent] = {}
        try:
            for number, (page, is_last) in enumerate(self._pages(start), 1):
                new = [each for each in page if self._belongs(each.stream) and not known.has(each.id)]
                events.update((each.id, each) for each in new if each.id not in events)
                max_bytes -= sum(len(each.message) for each in new)
                is_enough = max_bytes <= 0 or (number >= MAX_PAGES and events)
                if is_enough and not is_last and not (new and new[-1].may_be_split):
                    return list(events.values()), False
        except RemoteError:
            if all(event.may_be_split for event in events.values()):
                raise
            return list(events.values()), False
        return list(events.values()), True

    def _pages(self, start: int, end: int | None = None) -> Iterator[tuple[list[LogEvent], bool]]:
        """Yields pages and whether they are the last one. A page may be empty and not be the last one.
        Times are milliseconds; `end` is the first one that is not asked for."""
        asked: dict[str, object] = {"startTime": max(0, start), "logStreamNamePrefix": self._stream}
        if end is not None:
            asked["endTime"] = end - 1  # the service includes it
        while True:
            answer = aws.ask(self._client, "FilterLogEvents", self._group, logGroupName=self._group, **asked)
            token = answer.get("nextToken")
            yield [_event(each) for each in answer.get("events", ())], not token
            if not token:
                return
            asked["nextToken"] = token

    def _belongs(self, stream: str) -> bool:
        return stream == self._stream or stream.startswith(f"{self._stream}.")


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
    for name, own in streams.items():
        ready = list(entries(own, waits))
        if ready:
            _append(done, _file(done.state, name, new_number), ready)
        for event in (event for entry in ready for event in entry.events):
            known.add(event, int(done.at * MILLIS))
    return min((event.timestamp for event in events if not known.has(event.id)), default=NEVER)


def _file(state: LogState, stream: str, new_number: Numbers) -> PulledFile:
    for file in state.files:
        if file.name == stream:
            return file
    state.files.append(PulledFile(new_number(), stream))
    return state.files[-1]


def _append(done: Round, file: PulledFile, ready: list[Entry]) -> None:
    lines = b"".join(entry.content for entry in ready)
    done.runs.append(LineRun(file, file.offset, lines))
    file.extend_head(lines)
    file.offset = file.size = file.read_size = file.offset + len(lines)
    newest = max(event.timestamp for entry in ready for event in entry.events)
    file.written_at = max(file.written_at, newest / MILLIS)


def _leave_gap(done: Round, file: PulledFile, hour: Hour, unknown: Tally) -> None:
    file.offset = file.size = file.read_size = file.offset + unknown.size
    begin = datetime.fromtimestamp(hour.start / MILLIS, UTC)
    done.notes.append(
        f"{file.name}: {unknown.count} late events of the hour from {begin:%Y-%m-%dT%H:%MZ} cannot be "
        f"distinguished from events that were read: a gap of {unknown.size} bytes"
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
