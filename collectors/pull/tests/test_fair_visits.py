"""A busy log and a quiet one, read by one puller in simulated time."""

import random
from collections import Counter
from threading import Event

import pytest
from test_cloudwatch import GROUP, NOW, client_of

from e2e.pulling.fake_cloudwatch import FakeCloudWatch
from tailrace_pull import cloudwatch, look_back, service
from tailrace_pull.cloudwatch import CloudWatchLogs
from tailrace_pull.costs import Cost
from tailrace_pull.log import PulledLog, StreamedLog
from tailrace_pull.pace import JITTER, MAX_SECONDS, Pace
from tailrace_pull.reading import Round
from tailrace_pull.service import Service, Watch
from tailrace_pull.state import LogState

SEEDS = 1
LONG_SEEDS = 100
BUSY, QUIET = (StreamedLog(name, name, "slowlog", f"/{name}") for name in ("busy", "quiet"))
REQUEST_SECONDS = 4
MAX_PAGES = 4
EVENTS = 150
"""Events of the busy hour. Pages have two or three on average, so the hour has about 60 pages."""
BEGIN = NOW // 3600 * 3600
END = BEGIN + 3600
"""The busy hour. It is listed again an hour later."""
MAX_DELAY_SECONDS = MAX_SECONDS * (1 + JITTER) + 2 * 3 * MAX_PAGES * REQUEST_SECONDS
"""A pause, and two passes in which each visit has at most its pages, and a few more for the quiet log."""


class KilledError(BaseException):
    """The puller is killed at this instruction."""


class SimulatedClock:
    """Passes when a request is sent, and when the puller waits."""

    def __init__(self) -> None:
        self.seconds = float(END)

    def now(self) -> float:
        return self.seconds

    monotonic = now

    def wait(self, _: Event, seconds: float) -> None:
        self.seconds += seconds


class World:
    """Two log groups, and Kafka, which stores rounds or not."""

    def __init__(self, seed: int) -> None:
        self.random, self.clock = random.Random(seed), SimulatedClock()
        self.fakes = {BUSY: FakeCloudWatch(seed, 5), QUIET: FakeCloudWatch(seed + 1, 5)}
        self.states: dict[str, LogState] = {}
        self.content = {BUSY: b"", QUIET: b""}
        self.delays: list[float] = []
        """Of entries of the quiet log, in seconds."""
        self.kill_rate = 0.0
        self._shown = BEGIN
        self.written = {BUSY: [self.busy(number) for number in range(EVENTS)], QUIET: []}
        for fake in self.fakes.values():
            fake.between_calls = self.pass_time

    def busy(self, number: int) -> str:
        at = (BEGIN + number * 3600 // EVENTS) * 1000
        self.fakes[BUSY].put("prod", at, f"{number}", at)
        return f"{number}"

    def pass_time(self) -> None:
        """A request takes its time, and may be the last one; the quiet server writes every four minutes."""
        self.clock.seconds += REQUEST_SECONDS
        while self._shown + 240 <= self.clock.seconds:
            self._shown += 240
            self.fakes[QUIET].put("prod", self._shown * 1000, f"{self._shown}", self._shown * 1000)
            self.written[QUIET].append(f"{self._shown}")
        self.may_kill()

    def may_kill(self) -> None:
        if self.random.random() < self.kill_rate:
            raise KilledError

    def show_late(self, number: int) -> None:
        """An agent sends an entry of the busy hour now."""
        message = f"late {number}"
        at = (BEGIN + self.random.randrange(3600)) * 1000
        self.fakes[BUSY].put("prod", at, message, int(self.clock.seconds * 1000))
        self.written[BUSY].append(message)

    def ship(self, rounds: dict[PulledLog, Round], its_costs: dict[PulledLog, Cost]) -> None:
        self.may_kill()
        for log, done in rounds.items():
            for run in done.runs:
                assert run.offset == len(self.content[log]), "bytes twice, or left out"
                self.content[log] += run.lines
                if log is QUIET:
                    written = [int(line) for line in run.lines.splitlines()]
                    self.delays += [self.clock.seconds - max(at, END) for at in written]
            assert not done.notes
            self.states[log.key] = LogState.from_json(done.state.to_json())
        self.may_kill()

    def is_recent(self, log: PulledLog, entry: str) -> bool:
        """Returns whether an entry may still be unread."""
        return log is QUIET and int(entry) > self.clock.seconds - MAX_DELAY_SECONDS

    def start(self) -> Service:
        watches = [
            Watch(
                log,
                CloudWatchLogs(client_of(fake), GROUP, "prod", BEGIN * 1000),
                self.states.get(log.key, LogState()),
                Pace(self.random),
            )
            for log, fake in self.fakes.items()
        ]
        return Service(watches, self, lambda _: None, self.clock)

    def run_until(self, seconds: float) -> None:
        """Runs pullers; one that is killed is followed by the next one."""
        while self.clock.seconds < seconds:
            its = self.start()
            try:
                its.run(lambda _, its=its: its.stop() if self.clock.seconds >= seconds else None)
            except KilledError:
                self.clock.seconds += 1


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """One worker makes the order of requests certain; ids of a busy hour are not known for long."""
    monkeypatch.setattr(service, "WORKERS", 1)
    monkeypatch.setattr(cloudwatch, "MAX_PAGES", MAX_PAGES)
    monkeypatch.setattr(look_back, "OLD_IDS", 3)


def run_hours(world: World) -> None:
    """Reads the busy hour; lists it again, with late entries, when it is an hour old."""
    world.run_until(END + 1800)
    for number in range(10):
        world.show_late(number)
    world.run_until(END + 3600 + 4500)


def check_entries(world: World) -> None:
    for log, written in world.written.items():
        stored = Counter(world.content[log].decode().splitlines())
        assert not stored - Counter(written)
        left = [each for each in Counter(written) - stored if not world.is_recent(log, each)]
        assert not left


def test_a_busy_log_does_not_delay_a_quiet_one():
    world = World(1)
    run_hours(world)
    check_entries(world)
    assert max(world.delays) <= MAX_DELAY_SECONDS
    assert world.fakes[BUSY].calls * REQUEST_SECONDS > 5 * MAX_DELAY_SECONDS, "the busy log was busy"


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_puller_that_is_killed_reads_each_entry_once(seed: int) -> None:
    world = World(seed)
    world.kill_rate = 0.02
    run_hours(world)
    world.kill_rate = 0
    world.run_until(world.clock.seconds + 600)
    check_entries(world)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(SEEDS, LONG_SEEDS))
def test_a_puller_that_is_killed_reads_each_entry_once_long(seed: int) -> None:
    test_a_puller_that_is_killed_reads_each_entry_once(seed)
