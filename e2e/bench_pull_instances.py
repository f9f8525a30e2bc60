"""CPU time, memory, requests and lag of one puller that reads the slow logs of many instances of RDS, in
compressed time: `make bench-pull-instances`.

The puller is the real one, with its pauses, its clients and a real Kafka. Only its clock is simulated: it
passes when a request is answered, when Kafka confirms, and when the puller would wait. The service runs in a
process of its own (`e2e/pulling/many_instances.py`). At the end the state of each log must have all bytes
that the service had at the last visit.

With --direct, which makes a day take minutes, there is no HTTP, no client and no Kafka: the puller calls the
service in its process, and packs the records without sending them.
"""

import argparse
import json
import multiprocessing
import os
import resource
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from threading import Event

from e2e.bench_pull import serving
from e2e.pulling.many_instances import (
    BEGIN,
    ENTRY_BYTES,
    HOUR,
    DirectLogs,
    every_seconds,
    file_of,
    hour_of,
    rds,
)
from e2e.stack import Stack
from tailrace_local import kafka as local_kafka
from tailrace_pull import service as puller
from tailrace_pull.config import Clients, Entry, load
from tailrace_pull.costs import Cost
from tailrace_pull.log import PulledLog
from tailrace_pull.reading import FilesOfLog, Round
from tailrace_pull.service import Clock, Service, Sink, Watch
from tailrace_pull.shipping import Shipper, records
from tailrace_pull.state import LogState

FIRST_PORT = int(os.environ.get("BENCH_PULL_FIRST_PORT", "22670"))
COMMIT_SECONDS = 0.1
"""What a transaction takes in simulated time."""
NOTED_SECONDS = 1
"""How exact the longest time between two visits is."""
MB = 1_000_000
HEAD = f"{'hour':>5}{'MB':>8}{'requests/s':>12}{'cores':>8}{'memory, MB':>12}"


class SharedClock(Clock):
    """The simulated time, which the service reads."""

    def __init__(self, shared: "Synchronized[float]") -> None:
        self._shared = shared

    def now(self) -> float:
        return self._shared.value

    monotonic = now

    def wait(self, event: Event, seconds: float) -> None:
        with self._shared.get_lock():
            self._shared.value += seconds


def serve(clock: "Synchronized[float]", asked: "Synchronized[int]", ready: multiprocessing.Queue) -> None:
    with serving(rds(clock, asked)) as address:
        ready.put(address)
        signal.pause()


def list_of(instances: int, address: str) -> list[dict[str, str]]:
    log = {
        "cluster": "many",
        "source": "slowlog",
        "kind": "rds",
        "region": "eu-central-1",
        "endpoint": address,
    }
    return [{**log, "instance": f"db-{each}", "db_instance": f"db-{each}"} for each in range(instances)]


class Packing:
    """Stores nothing: it packs what Kafka would get."""

    def __init__(self) -> None:
        self._stored: dict[str, LogState] = {}

    def ship(self, rounds: Mapping[PulledLog, Round], its_costs: Mapping[PulledLog, Cost]) -> None:
        for log, done in rounds.items():
            for _ in records(log, done):
                pass
            if self._stored.get(log.key) != done.state:
                done.state.to_json()
                self._stored[log.key] = done.state


class TimedSink:
    """Stores rounds, which takes time, and notes how old their entries were then."""

    def __init__(self, sink: Sink, clock: "Synchronized[float]") -> None:
        self._sink = sink
        self._clock = clock
        self.lags: Counter[int] = Counter()
        """Entries by the seconds between their end and their transaction."""

    def ship(self, rounds: Mapping[PulledLog, Round], its_costs: Mapping[PulledLog, Cost]) -> None:
        self._sink.ship(rounds, its_costs)
        with self._clock.get_lock():
            self._clock.value += COMMIT_SECONDS
        now = self._clock.value
        for log, done in rounds.items():
            pause = every_seconds(int(log.instance.rpartition("-")[2]))
            for run in done.runs:
                first = run.offset // ENTRY_BYTES
                written = hour_of(run.lines) + first * pause
                for number in range(len(run.lines) // ENTRY_BYTES):
                    self.lags[int(now - written - number * pause)] += 1

    def lag(self, share: float) -> int:
        """Returns the lag that this share of the entries does not exceed, in whole seconds."""
        left = share * self.lags.total()
        for seconds, entries in sorted(self.lags.items()):
            left -= entries
            if left <= 0:
                return seconds
        return 0


class InOrder(Executor):
    """Runs one visit after another: without requests, threads would only wait for each other."""

    def __init__(self, _: int) -> None:
        """Takes the number of threads, as a pool of them does."""

    def submit(self, visit: Callable[..., Round], *arguments: object) -> "Future[Round]":
        done: Future[Round] = Future()
        try:
            done.set_result(visit(*arguments))
        except Exception as error:
            done.set_exception(error)
        return done


@dataclass
class Progress:
    """What the puller did, hour by hour of simulated time, and the longest time between two visits."""

    clock: "Synchronized[float]"
    asked: "Synchronized[int]"
    worst_pause: float = 0.0
    busiest: float = 0.0
    """Requests a second of the busiest minute after the first one, in which all logs are new."""
    _noted_at: float = 0.0
    _hour: tuple[float, int, float, int] = (BEGIN, 0, 0.0, 0)
    _minute: tuple[float, int] = field(default=(BEGIN, 0))

    def note(self, watches: Sequence[Watch]) -> None:
        now = self.clock.value
        if now < self._noted_at + NOTED_SECONDS:
            return
        self._noted_at = now
        if all(watch.visited_at for watch in watches):
            self.worst_pause = max(self.worst_pause, now - min(watch.visited_at for watch in watches))
        since, before = self._minute
        if now - since >= 60:
            rate = (self.asked.value - before) / (now - since)
            self.busiest = max(self.busiest, rate if since > BEGIN else 0.0)
            self._minute = (now, self.asked.value)
        if now - self._hour[0] >= HOUR:
            self._show(now, watches)

    def _show(self, now: float, watches: Sequence[Watch]) -> None:
        since, asked, spent, size = self._hour
        self._hour = (now, self.asked.value, cpu_seconds(), sum(watch.bytes for watch in watches))
        seconds = now - since
        print(
            f"{(now - BEGIN) / HOUR:>5.1f}{(self._hour[3] - size) / MB:>8.0f}"
            f"{(self._hour[1] - asked) / seconds:>12.1f}{(self._hour[2] - spent) / seconds:>8.3f}"
            f"{memory():>12.0f}",
            flush=True,
        )


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def memory() -> float:
    """Returns the most memory that this process had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB


def pull(watches: list[Watch], sink: TimedSink, progress: Progress, seconds: float) -> float:
    """Runs the puller; returns its CPU-seconds. Raises RuntimeError if a log has a problem or lacks bytes."""
    problems: list[str] = []
    service = Service(watches, sink, problems.append, SharedClock(progress.clock))

    def after_pass(_: object) -> None:
        progress.note(watches)
        if progress.clock.value >= BEGIN + seconds:
            service.stop()

    before = cpu_seconds()
    print(HEAD)
    service.run(after_pass)
    spent = cpu_seconds() - before
    problems += [f"{watch.log.instance}: {watch.problem}" for watch in watches if watch.problem]
    problems += [missing for number, watch in enumerate(watches) if (missing := unread(number, watch))]
    if problems:
        raise RuntimeError("; ".join(problems[:5]))
    return spent


def unread(instance: int, watch: Watch) -> str:
    """Returns what a log lacks of the bytes that its service had at the last visit."""
    hours = range(BEGIN, int(watch.visited_at) + 1, HOUR)
    expected = [file_of(instance, hour, watch.visited_at) * ENTRY_BYTES for hour in hours]
    found = [file.offset for file in watch.state.files]
    is_read = len(found) == len(expected) and all(
        has >= size for has, size in zip(found, expected, strict=True)
    )
    return "" if is_read else f"{watch.log.instance}: expected {expected}, found {found}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-pull-instances", description=__doc__)
    parser.add_argument("--instances", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=24 * 60, help="simulated time; default: a day")
    parser.add_argument("--direct", action="store_true", help="without HTTP, client and Kafka")
    options = parser.parse_args()
    os.environ |= {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "unused"}
    progress = Progress(multiprocessing.Value("d", BEGIN), multiprocessing.Value("q", 0))
    with ExitStack() as parts:
        watches, sink = (direct if options.direct else real)(options.instances, progress, parts)
        spent = pull(watches, sink, progress, options.minutes * 60)
    report(watches, sink, progress, spent)


def direct(instances: int, progress: Progress, _: ExitStack) -> tuple[list[Watch], TimedSink]:
    with tempfile.TemporaryDirectory() as directory:
        entries = listed(Path(directory), instances, "http://127.0.0.1:1")
    puller.ThreadPoolExecutor = InOrder
    watches = [
        Watch(each.log(), FilesOfLog(DirectLogs(number, progress.clock, progress.asked)), LogState())
        for number, each in enumerate(entries)
    ]
    return watches, TimedSink(Packing(), progress.clock)


def real(instances: int, progress: Progress, parts: ExitStack) -> tuple[list[Watch], TimedSink]:
    """Starts the service and Kafka, which end with `parts`."""
    ready: multiprocessing.Queue = multiprocessing.Queue()
    service = multiprocessing.Process(target=serve, args=(progress.clock, progress.asked, ready), daemon=True)
    service.start()
    parts.callback(service.terminate)
    directory = Path(parts.enter_context(tempfile.TemporaryDirectory()))
    stack = Stack(directory / "home", FIRST_PORT, components=("kafka",))
    stack.up()
    parts.callback(stack.down)
    clients = Clients()
    watches = [
        Watch(each.log(), clients.logs(each), LogState())
        for each in listed(directory, instances, ready.get())
    ]
    kafka = {"bootstrap.servers": local_kafka.connect(stack.settings, stack.home, "pull").address}
    return watches, TimedSink(Shipper(kafka, "bench"), progress.clock)


def listed(directory: Path, instances: int, address: str) -> list[Entry]:
    file = directory / "logs.json"
    file.write_text(json.dumps(list_of(instances, address)))
    return load(file)


def report(watches: list[Watch], sink: TimedSink, progress: Progress, spent: float) -> None:
    seconds, requests = progress.clock.value - BEGIN, progress.asked.value
    pauses = dict(Counter(every_seconds(each) for each in range(len(watches))))
    print(
        f"{len(watches)} instances, {seconds / HOUR:.2f} simulated hours; seconds between entries: {pauses}"
    )
    print(
        f"{sum(watch.bytes for watch in watches) / MB:.0f} MB; {requests} requests,"
        f" {requests / seconds:.1f} a second, in the busiest minute {progress.busiest:.1f}"
    )
    print(f"CPU of the puller: {spent:.0f} s, {spent / seconds:.3f} cores; memory at most {memory():.0f} MB")
    print(
        f"lag of an entry: p50 {sink.lag(0.5)} s, p95 {sink.lag(0.95)} s, at most {max(sink.lags)} s;"
        f" longest time between two visits {progress.worst_pause:.0f} s"
    )


if __name__ == "__main__":
    main()
