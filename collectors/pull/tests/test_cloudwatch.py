"""Reads logs from a CloudWatch Logs that shows events late, twice and out of order, and fails."""

import itertools
import random
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest

from e2e.pulling import json_protocol
from e2e.pulling.fake_cloudwatch import MAX_EVENT_BYTES, FakeCloudWatch
from e2e.pulling.service_http import FaultError
from tailrace.config.resources import REPOSITORY
from tailrace_pull import cloudwatch, look_back
from tailrace_pull.cloudwatch import CloudWatchLogs, milliseconds, read_by_another
from tailrace_pull.events import CONTINUATION_MILLIS, LogEvent, entries
from tailrace_pull.log import PulledLog, StreamedLog
from tailrace_pull.look_back import DEEP_EVERY_MILLIS, DEEP_MILLIS, SHALLOW_MILLIS, LookBack
from tailrace_pull.reading import Round
from tailrace_pull.remote import FileGoneError, PermissionMissingError, RemoteError, ThrottledError
from tailrace_pull.state import LogState, PulledFile

NOW = 1_795_000_000
SEEDS = 6
LONG_SEEDS = 500
GROUP = "/aws/rds/instance/prod/slowquery"
MOST_SECONDS_LATE = 3 * 3600
STREAMS = ("prod", "prod.audit.1", "prod.audit.2")


def client_of(fake: FakeCloudWatch) -> Any:
    return json_protocol.client("logs", fake.handle)


class Puller:
    """Visits a log, and keeps what a transaction would have stored."""

    def __init__(self, logs: CloudWatchLogs) -> None:
        self.logs, self.state = logs, LogState()
        self.content: dict[str, bytes] = {}
        """What was stored, by stream."""
        self._numbers = itertools.count(1)

    def visit(self, at: float = NOW, max_bytes: int = 1 << 20, is_killed: bool = False) -> Round:
        """Visits; a killed puller loses what it read."""
        kept = self.state.to_json()
        done = self.logs.visit(self.state, lambda: next(self._numbers), at, max_bytes)
        assert self.state.to_json() == kept, "a visit changed the state"
        if not is_killed:
            for run in done.runs:
                self._leave_gap(run.file.name, run.offset)
                self.content[run.file.name] += run.lines
            for file in done.state.files:
                self._leave_gap(file.name, file.offset)
            self.state = LogState.from_json(done.state.to_json())
        return done

    def _leave_gap(self, stream: str, end: int) -> None:
        """Fills what the puller left out with NUL bytes."""
        content = self.content.get(stream, b"")
        assert end >= len(content), "the same bytes twice"
        self.content[stream] = content.ljust(end, b"\0")

    def visit_until_read(self, at: float) -> None:
        for _ in range(1000):
            if self.visit(at).is_complete:
                return
        raise AssertionError("not read to the end")

    def lines(self, stream: str = "prod") -> list[bytes]:
        return self.content.get(stream, b"").splitlines(keepends=True)


def puller_of(fake: FakeCloudWatch, since: int = 0) -> Puller:
    return Puller(CloudWatchLogs(client_of(fake), GROUP, "prod", since))


@pytest.fixture
def fake() -> FakeCloudWatch:
    return FakeCloudWatch(1, page_events=7)  # also pages without events and with one


def put(fake: FakeCloudWatch, message: str, seconds: float = 0, stream: str = "prod") -> None:
    """Stores a message this number of seconds after NOW, with equal times of event and arrival."""
    at = int((NOW + seconds) * 1000)
    fake.put(stream, at, message, at)


class Writer:
    """Servers that write entries to streams; it knows what they wrote. Time passes with each action. Agents
    are some seconds late, and one in fifty entries hours."""

    def __init__(self, fake: FakeCloudWatch, seed: int) -> None:
        self.fake, self.random, self.seconds = fake, random.Random(seed), 0.0
        self.written: dict[str, list[str]] = {stream: [] for stream in STREAMS}
        self._numbers = itertools.count()

    def act(self) -> None:
        self.seconds += self.random.choice((0, 0.001, 0.5, 3))
        self.fake.reveal(0.3)
        for _ in range(self.random.choice((0, 0, 0, 0, 0, 0, 0, 1, 1, 5))):
            self.write()

    def write(self) -> None:
        stream = self.random.choice(STREAMS)
        delay = self.random.choice((0, 0, 0.4, 9))
        if self.random.random() < 0.02:
            delay = self.random.randrange(MOST_SECONDS_LATE)
        if self.random.random() < 0.02:
            stream = "prod2"  # another server, whose name begins the same
        message = self.message()
        at, is_long = int((NOW + self.seconds) * 1000) & ~1, len(message) > 1000
        # Nothing else has the time of a long entry: its parts could not be distinguished from the others.
        self.fake.put(stream, at + 1 if is_long else at - int(delay * 1000), message, at)
        self.seconds += 0.002 if is_long else 0
        if stream in self.written:
            self.written[stream].append(message if message.endswith("\n") else message + "\n")

    def message(self) -> str:
        head = f"# {next(self._numbers)} é\n"
        if self.random.random() < 0.01:
            return head + "é" * self.random.choice((MAX_EVENT_BYTES // 2, MAX_EVENT_BYTES)) + ";"
        return head + self.random.choice(("select 1;", "select 2;\n", "x" * 300))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(SEEDS, LONG_SEEDS))
def test_each_event_is_stored_once_long(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check_entries(seed, monkeypatch)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_each_event_is_stored_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check_entries(seed, monkeypatch)


def check_entries(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pulls 40 times while servers write, the service fails and the puller is killed, then to the end, hours
    later; compares the entries of each stream with what was written. Every second puller knows few ids, and
    most of them list few pages at a visit."""
    chosen = random.Random(seed)
    monkeypatch.setattr(cloudwatch, "MAX_PAGES", random.Random(seed).choice((1, 3, 3, 50)))
    knows_all = seed % 2 == 0
    monkeypatch.setattr(look_back, "OLD_IDS", 1000 if knows_all else 3)
    fake = FakeCloudWatch(seed, chosen.choice((20, 200)), chosen.choice((0, 0.1)), 0.1, withheld_rate=0.02)
    writer = Writer(fake, seed)
    fake.between_calls = writer.act
    puller = puller_of(fake, (NOW - MOST_SECONDS_LATE - 1000) * 1000)
    for _ in range(40):
        with suppress(RemoteError):
            at = NOW + writer.seconds + chosen.choice((-2, 0, 2))
            puller.visit(at, chosen.choice((1000, 1 << 20)), is_killed=chosen.random() < 0.2)
    pull_for_hours(puller, writer, chosen)
    missing = missing_bytes(puller, writer.written)
    gaps = sum(content.count(b"\0") for content in puller.content.values())
    assert missing == (0 if knows_all else gaps)
    assert gaps == missing, "a gap has the size of what is missing"


def pull_for_hours(puller: Puller, writer: Writer, chosen: random.Random) -> None:
    """Visits until each event was listed after it became visible."""
    writer.fake.settle(releases=False)
    end = NOW + writer.seconds + max(DEEP_EVERY_MILLIS, CONTINUATION_MILLIS) / 1000 + 10
    puller.visit_until_read(end)
    writer.fake.put("prod", int(end + 3600) * 1000, "# last\n", int(end + 3600) * 1000)
    writer.written["prod"].append("# last\n")
    puller.visit_until_read(end + 3600)
    writer.fake.settle()
    for hours in range(8, 20):
        for minutes in (0, 7, 14):
            at, max_bytes = end + hours * 3600 + minutes * 60, chosen.choice((1000, 1 << 20))
            while True:
                is_killed = chosen.random() < 0.1
                if puller.visit(at, max_bytes, is_killed).is_complete and not is_killed:
                    break


def missing_bytes(puller: Puller, written: dict[str, list[str]]) -> int:
    """Returns how many bytes of entries are not stored. An entry that is stored twice, or was never written,
    is an error."""
    assert puller.content.keys() <= set(STREAMS)
    missing = 0
    for stream, entries_of_server in written.items():
        stored = Counter(split_entries(puller.content.get(stream, b"").replace(b"\0", b"").decode()))
        expected = Counter(entries_of_server)
        assert not stored - expected
        missing += sum(len(each.encode()) * count for each, count in (expected - stored).items())
    return missing


def split_entries(content: str) -> list[str]:
    return [f"# {entry}" for entry in content.split("# ")[1:]]


@pytest.mark.parametrize("begins", ["# Time: ", ""])
def test_the_file_of_a_stream_equals_the_log_of_the_server(begins):
    """An event is an entry, or a line of one; equal bytes at equal offsets are equal events."""
    log = (REPOSITORY / "samples" / "mysql-8.0.46.slow.log").read_bytes()[:60_000].decode()
    log = log[: log.rindex("\n") + 1]
    fake, events = FakeCloudWatch(1, page_events=500), []
    for line in log.removesuffix("\n").split("\n"):
        if line.startswith(begins) or not events:
            events.append("")
        events[-1] += line + "\n"
    for number, event in enumerate(events):
        put(fake, event.removesuffix("\n") or "\n", number // 40)
    puller = puller_of(fake)
    puller.visit_until_read(NOW + 60)
    assert puller.content["prod"].decode() == log


def test_a_late_event_is_read_and_the_others_are_not_read_again(fake):
    puller = puller_of(fake)
    put(fake, "a", 0)
    put(fake, "c", 20)
    puller.visit(NOW + 30)
    put(fake, "b", 10)
    puller.visit(NOW + 40)
    assert puller.lines() == [b"a\n", b"c\n", b"b\n"]


def test_a_very_late_event_is_read_by_a_visit_that_looks_back_further(fake):
    puller = puller_of(fake)
    put(fake, "new", 0)
    puller.visit(NOW)
    put(fake, "late", -DEEP_MILLIS / 1000 + 1)
    fake.put("prod", NOW * 1000 - DEEP_MILLIS - 1, "too late", NOW * 1000)
    puller.visit(NOW + SHALLOW_MILLIS / 1000)
    assert puller.lines() == [b"new\n"]
    puller.visit(NOW + DEEP_EVERY_MILLIS / 1000)
    assert puller.lines() == [b"new\n", b"late\n"]


def test_an_event_of_the_future_does_not_hide_later_ones(fake):
    puller = puller_of(fake)
    put(fake, "from a clock that is ahead", 7200)
    puller.visit(NOW)
    put(fake, "next", 5)
    puller.visit(NOW + 10)
    puller.visit(NOW + 20)
    assert puller.lines() == [b"from a clock that is ahead\n", b"next\n"]


def test_more_events_than_ids_are_remembered_are_stored_once(fake, monkeypatch):
    monkeypatch.setattr(look_back, "MAX_IDS", 5)
    puller = puller_of(fake)
    for number in range(40):
        put(fake, f"{number}", number / 1000)
        puller.visit(NOW + 1, max_bytes=number % 3)
    put(fake, "before the ids that are known", -1)
    puller.visit_until_read(NOW + 2)
    assert puller.lines() == [b"%d\n" % number for number in range(40)]
    assert len(LookBack.from_text(puller.state.memory).seen) <= 6


def test_a_first_visit_reads_a_day_or_from_the_given_time(fake):
    put(fake, "old", -90_000)
    put(fake, "yesterday", -80_000)
    put(fake, "today", -60)
    for since, expected in ((0, ["yesterday", "today"]), ((NOW - 100) * 1000, ["today"]), (1, ["old"])):
        puller = puller_of(fake, since)
        puller.visit_until_read(NOW)
        assert [line.decode().strip() for line in puller.lines()][: len(expected)] == expected


def test_parts_of_a_long_entry_are_joined_when_the_last_one_arrives(fake):
    puller, entry = puller_of(fake), "select '" + "é" * MAX_EVENT_BYTES + "'"
    fake.put("prod", NOW * 1000, entry, NOW * 1000)
    third = fake._events.pop()
    put(fake, "next", 1)
    puller.visit(NOW + 10)
    assert puller.lines() == [b"next\n"]
    fake._events.append(third)
    puller.visit(NOW + 20)
    assert puller.lines() == [b"next\n", entry.encode() + b"\n"]


def test_an_entry_whose_rest_never_arrives_is_stored_after_a_minute(fake):
    puller, entry = puller_of(fake), "x" * MAX_EVENT_BYTES
    put(fake, entry)
    puller.visit(NOW + CONTINUATION_MILLIS / 1000 - 1)
    assert puller.content == {}
    puller.visit(NOW + CONTINUATION_MILLIS / 1000)
    assert puller.content["prod"].decode() == entry + "\n"


def test_parts_are_joined_only_at_one_time_and_up_to_the_longest_line():
    part = b"x" * MAX_EVENT_BYTES
    events = [LogEvent("prod", 0, 0, f"{number}", part) for number in range(70)]
    events.append(LogEvent("prod", 1, 1, "other", b"y"))
    found = entries(events, waits=0).contents
    assert b"".join(found).replace(b"\n", b"") == part * 70 + b"y"
    assert [len(content) for content in found] == [60 * len(part) + 1, 10 * len(part) + 1, 2]


@pytest.mark.parametrize(
    ("code", "kind", "text"),
    [
        ("AccessDeniedException", PermissionMissingError, "the policy lacks logs:FilterLogEvents"),
        ("ExpiredTokenException", PermissionMissingError, "expired or invalid"),
        ("ThrottlingException", ThrottledError, "ThrottlingException"),
        ("ResourceNotFoundException", FileGoneError, "ResourceNotFoundException"),
        ("InvalidParameterException", RemoteError, "InvalidParameterException"),
    ],
)
def test_an_error_names_the_request_and_the_missing_permission(fake, code, kind, text):
    def refuse() -> None:
        raise FaultError(code)

    fake.between_calls = refuse
    with pytest.raises(kind, match=text) as raised:
        puller_of(fake).visit()
    assert f"FilterLogEvents of {GROUP}" in str(raised.value)


def test_an_error_after_some_pages_keeps_what_they_had(fake):
    def refuse_the_fifth_request() -> None:
        if fake.calls % 5 == 0:
            raise FaultError("ThrottlingException")

    for number in range(60):
        put(fake, f"{number}", number * 100)
    fake.between_calls = refuse_the_fifth_request
    puller = puller_of(fake)
    while len(puller.lines()) < 60:
        assert fake.calls < 500
        with suppress(ThrottledError):
            puller.visit(NOW + 6000)
    assert puller.lines() == [b"%d\n" % number for number in range(60)]


def test_a_stream_has_a_path_of_its_own_that_ends_in_no_rotation_suffix():
    log = StreamedLog("db", "db", "audit", "/cloudwatch/r/prod/aws/rds/cluster/c/audit")
    assert log.path(PulledFile(1, "prod.audit.log.0.2026-11-26.1")) == (
        "/cloudwatch/r/prod/aws/rds/cluster/c/audit/prod.audit.log.0.2026-11-26.1.events"
    )
    assert log.path(PulledFile(1, "../../etc/x")) == f"{log.live_path}/..%2F..%2Fetc%2Fx.events"


def test_a_stream_that_ended_leaves_the_census_a_day_later(fake):
    puller = puller_of(fake, since=1)
    put(fake, "a", -90_000, "prod.1")
    put(fake, "b", -80_000, "prod.2")
    put(fake, "c", 0, "prod.3")
    puller.visit_until_read(NOW)
    puller.visit(NOW)
    assert [file.name for file in puller.state.files] == ["prod.2", "prod.3"]


def test_a_log_that_another_entry_read_is_continued_behind_it():
    read = LogState([PulledFile(1, "a", written_at=NOW), PulledFile(2, "b", written_at=NOW - 5)])
    log = PulledLog("db", "db", "slowlog", "/cloudwatch/r/db/group")
    states = {"db|slowlog|/rds/r/db/slow.log": read, "db|audit|/x": LogState([PulledFile(3, "c")])}
    assert read_by_another(log, states) == NOW * 1000
    assert read_by_another(log, {log.key: read}) == 0


def test_a_time_without_a_zone_is_utc():
    assert milliseconds("2026-11-18T11:06:40") == milliseconds("2026-11-18T12:06:40+01:00")


def test_a_listing_without_events_is_continued_where_the_last_visit_stopped(fake, monkeypatch):
    """The service answers empty pages as long as it finds nothing; it forgets tokens after a day."""
    monkeypatch.setattr(cloudwatch, "MAX_PAGES", 3)
    empty, asked = [f"t/{NOW}:0:{number}" for number in range(20)], []

    def answer(operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        token = parameters.get("nextToken", "")
        asked.append(token)
        if token == forgotten:
            raise FaultError("InvalidParameterException", "The specified nextToken is invalid.")
        if empty and token != "last":
            return {"events": [], "nextToken": empty.pop(0)}
        return fake.handle(operation, {**parameters, "nextToken": ""} if token else parameters)

    forgotten = "t/none"
    put(fake, "a", -60)
    monkeypatch.setattr(fake, "_key_of", lambda _: (-1, -1, -1))
    puller = Puller(CloudWatchLogs(json_protocol.client("logs", answer), GROUP, "prod"))
    assert (puller.visit().is_complete, puller.content) == (False, {})
    forgotten = LookBack.from_text(puller.state.memory).token
    assert (forgotten, asked) == (f"t/{NOW}:0:2", ["", f"t/{NOW}:0:0", f"t/{NOW}:0:1"])
    puller.visit()
    assert asked[3:5] == [forgotten, ""]
    puller.visit_until_read(NOW + 1)
    assert puller.lines() == [b"a\n"]
