"""Simulates a day of an installation as queues of a fluid: 15 billion entries are not simulated one by one.

    logs on hosts ─ Kafka ─▶ lines ─ normalize, ClickHouse ─▶ events ─ detect ─▶

In each step, a stage passes what waits for it, up to its capacity. Normalize and ClickHouse are one stage for
the lines: the job stops reading when ClickHouse accepts no rows. Within a step nothing waits, so results are
exact to one step.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from benchmarks.capacity.figures import Figures
from benchmarks.capacity.sizing import CLICKHOUSE, DAY, DETECT, HOUR, KAFKA, NORMALIZE, Load, Plan

STEP_SECONDS = 5.0


@dataclass(frozen=True)
class Failure:
    """A stage has only a share of its capacity for a time, and none in its first `down_seconds`."""

    what: str
    stage: str
    share: float
    begin: float
    seconds: float
    down_seconds: float = 0.0

    def left(self, stage: str, now: float) -> float:
        """Returns the share of the capacity of a stage that is left at a time."""
        if stage != self.stage or not self.begin <= now < self.begin + self.seconds:
            return 1.0
        return 0.0 if now < self.begin + self.down_seconds else self.share


@dataclass
class Queue:
    """Entries that have arrived and passed, at the end of each step."""

    arrived: list[float] = field(default_factory=list)
    passed: list[float] = field(default_factory=list)

    @property
    def waiting(self) -> float:
        return self.arrived[-1] - self.passed[-1] if self.arrived else 0.0

    def step(self, arrivals: float, capacity: float) -> float:
        """Returns what passes in a step."""
        passed = min(self.waiting + arrivals, capacity)
        self.arrived.append((self.arrived[-1] if self.arrived else 0.0) + arrivals)
        self.passed.append((self.passed[-1] if self.passed else 0.0) + passed)
        return passed


@dataclass(frozen=True)
class Outcome:
    """The effect of a failure. Seconds; `largest` in entries."""

    what: str
    largest: dict[str, float]
    """The longest queue in front of each stage."""
    row_lag: float
    """The longest time from an entry of a log to its row."""
    alert_lag: float
    drained: float | None
    """Time from the end of the failure until nothing waits; None if something waits at the end."""


def rate_of_day(figures: Figures, load: Load) -> Callable[[float], float]:
    """Returns the entries a second at a time of day, in seconds since midnight."""
    return lambda now: load.average * figures.hours[int(now % DAY // HOUR)]


def simulate(
    rate: Callable[[float], float],
    capacity: dict[str, float],
    failures: Iterable[Failure] = (),
    seconds: float = DAY,
    backlog: float = 0.0,
) -> Outcome:
    """Runs all queues for a time. `backlog`: entries that wait in Kafka for normalize at the start."""
    failed = list(failures)
    hosts, lines, events = Queue(), Queue(), Queue()
    largest = {KAFKA: 0.0, NORMALIZE: 0.0, DETECT: 0.0}
    over = max((each.begin + each.seconds for each in failed), default=0.0)
    drained: float | None = None

    def available(stage: str, now: float) -> float:
        share = min((each.left(stage, now) for each in failed), default=1.0)
        return capacity[stage] * share * STEP_SECONDS

    for number in range(int(seconds / STEP_SECONDS)):
        now = number * STEP_SECONDS
        sent = hosts.step(rate(now) * STEP_SECONDS, available(KAFKA, now))
        rows = min(available(NORMALIZE, now), available(CLICKHOUSE, now))
        stored = lines.step(sent + (backlog if number == 0 else 0.0), rows)
        events.step(stored, available(DETECT, now))
        for stage, queue in ((KAFKA, hosts), (NORMALIZE, lines), (DETECT, events)):
            largest[stage] = max(largest[stage], queue.waiting)
        waits = hosts.waiting + lines.waiting + events.waiting > 1e-6
        if waits:
            drained = None
        elif drained is None and now >= over:
            drained = now - over
    written = [count + backlog for count in hosts.arrived]
    what = ", ".join(each.what for each in failed)
    return Outcome(what, largest, _lag(written, lines.passed), _lag(written, events.passed), drained)


def _lag(arrived: Sequence[float], passed: Sequence[float]) -> float:
    """Returns the longest time in which an entry that has arrived did not pass, in seconds."""
    longest = 0
    for step, count in enumerate(arrived):
        longest = max(longest, bisect_left(passed, count - 1e-6) - step)
    return longest * STEP_SECONDS


def failures_of(figures: Figures, found: Plan, begin: float, seconds: float) -> list[Failure]:
    """Returns the failures of one server of each kind, and of a shard.

    A shard with another replica stores rows at the same rate: each replica has its own work.
    """
    restart = figures["restart_seconds"]

    def one_of(count: int) -> float:
        return (count - 1) / count

    return [
        Failure(
            "a TaskManager of normalize", NORMALIZE, one_of(found.normalize_managers), begin, seconds, restart
        ),
        Failure("a TaskManager of detect", DETECT, one_of(found.detect_managers), begin, seconds, restart),
        Failure("a Kafka broker", KAFKA, one_of(found.brokers), begin, seconds),
        Failure("a replica of ClickHouse", CLICKHOUSE, 1.0 if found.replicas > 1 else 0.0, begin, seconds),
        Failure("all replicas of a shard", CLICKHOUSE, 0.0, begin, seconds),
    ]


def first_to_fail(figures: Figures, found: Plan) -> list[tuple[str, float]]:
    """Returns stages and disks by the multiple of the planned load at which each one is full, the first one
    first. A disk is full when its retention is over."""
    multiples = {stage: capacity / found.load.peak for stage, capacity in found.capacity.items()}
    servers = found.clickhouse_servers * figures["server_disk"] * (1 - figures["kept_free"])
    multiples["disk of ClickHouse"] = servers / found.clickhouse_bytes
    multiples["disk of Kafka"] = found.brokers * figures["broker_disk"] / found.kafka_bytes
    return sorted(multiples.items(), key=lambda each: each[1])
