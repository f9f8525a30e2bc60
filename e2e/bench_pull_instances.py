"""CPU time, memory and requests of one puller that reads the slow logs of many instances of RDS, in
compressed time: `make bench-pull-instances`.

The puller is the real one, with its pauses, its clients and a real Kafka. Only its clock is simulated: it
passes when a request is answered, when Kafka confirms, and when the puller would wait. The service runs in a
process of its own. It rotates each log hourly and keeps 24 files. A tenth of the instances write an entry
each second, three tenths one a minute, the others one an hour. At the end the state of each log must have
all bytes that the service had at the last visit.
"""

import argparse
import json
import multiprocessing
import os
import resource
import signal
import tempfile
import time
import urllib.parse
from collections import Counter
from collections.abc import Mapping
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from threading import Event

from e2e.bench_pull import Answer, serving
from e2e.stack import Stack
from tailrace_local import kafka as local_kafka
from tailrace_pull.config import Clients, load
from tailrace_pull.costs import Cost
from tailrace_pull.log import PulledLog
from tailrace_pull.reading import Round
from tailrace_pull.service import WORKERS, Clock, Service, Watch
from tailrace_pull.shipping import Shipper
from tailrace_pull.state import LogState

FIRST_PORT = int(os.environ.get("BENCH_PULL_FIRST_PORT", "22670"))
LIVE = "slowquery/mysql-slowquery.log"
HOUR = 3600
BEGIN = 1_795_000_000 // HOUR * HOUR + 24 * HOUR
KEPT_HOURS = 24
REQUEST_SECONDS, COMMIT_SECONDS = 0.05, 0.1
"""What a request and a transaction take in simulated time."""
PORTION_BYTES = 1_000_000
MB = 1_000_000
VALUES = "# Query_time: 0.100000  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: 1\n"
STATEMENT = f"SELECT {', '.join(f'column_{each}' for each in range(30))} FROM orders WHERE id = 1;\n"


def entry(at: int, number: int) -> str:
    header = f"# Time: {time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(at))}.000000Z\n"
    user = f"# User@Host: app[app] @  [10.0.0.1]  Id: {number:6}\n"
    return f"{header}{user}{VALUES}{STATEMENT}"


ENTRY_BYTES = len(entry(BEGIN, 1).encode())


def every_seconds(instance: int) -> int:
    """Returns after how many seconds an instance writes its next entry."""
    share = instance % 10
    return 1 if share == 0 else 60 if share < 4 else HOUR


def file_of(instance: int, hour: int, now: float) -> int:
    """Returns the entries of a file that begins at `hour`, in seconds since 1970 UTC."""
    return int(min(max(now - hour, 0), HOUR - 1)) // every_seconds(instance) + 1


def content(instance: int, hour: int, start: int, size: int) -> str:
    """Returns the bytes of a file from `start` on, which begins an entry."""
    first, pause = start // ENTRY_BYTES, every_seconds(instance)
    count = size // ENTRY_BYTES - first
    return "".join(entry(hour + number * pause, number) for number in range(first, first + count))


def rds(clock: "Synchronized[float]", asked: "Synchronized[int]") -> Answer:
    """Returns a service of AWS that has the logs of all instances, at the time of the clock."""

    def answer(_: str, __: str, body: bytes, ___: dict[str, str]) -> tuple[str, bytes, dict[str, str]]:
        form = dict(urllib.parse.parse_qsl(body.decode()))
        action, instance = form["Action"], int(form["DBInstanceIdentifier"].rpartition("-")[2])
        with clock.get_lock():
            clock.value += REQUEST_SECONDS / WORKERS
            now = clock.value
            asked.value += 1
        live = int(now) // HOUR * HOUR
        found = (
            describe(instance, live, now) if action == "DescribeDBLogFiles" else portion(form, instance, now)
        )
        text = f"<{action}Response><{action}Result>{found}</{action}Result></{action}Response>"
        return "text/xml", text.encode(), {}

    return answer


def describe(instance: int, live: int, now: float) -> str:
    files = []
    for hour in range(max(BEGIN, live - KEPT_HOURS * HOUR), live + 1, HOUR):
        entries = file_of(instance, hour, now)
        written = hour + (entries - 1) * every_seconds(instance)
        files.append(
            f"<DescribeDBLogFilesDetails><LogFileName>{name_of(hour, live)}</LogFileName>"
            f"<LastWritten>{written}000</LastWritten><Size>{entries * ENTRY_BYTES}</Size>"
            "</DescribeDBLogFilesDetails>"
        )
    return f"<DescribeDBLogFiles>{''.join(files)}</DescribeDBLogFiles>"


def name_of(hour: int, live: int) -> str:
    return LIVE if hour == live else f"{LIVE}.{time.strftime('%Y-%m-%d.%H', time.gmtime(hour + HOUR))}"


def portion(form: dict[str, str], instance: int, now: float) -> str:
    live = int(now) // HOUR * HOUR
    hours = range(live, live - KEPT_HOURS * HOUR, -HOUR)
    hour = next(each for each in hours if name_of(each, live) == form["LogFileName"])
    size = file_of(instance, hour, now) * ENTRY_BYTES
    start = int(form["Marker"].rpartition(":")[2])
    end = min(size, start + PORTION_BYTES // ENTRY_BYTES * ENTRY_BYTES)
    return (
        f"<LogFileData>{content(instance, hour, start, end)}</LogFileData><Marker>16:{end}</Marker>"
        f"<AdditionalDataPending>{str(end < size).lower()}</AdditionalDataPending>"
    )


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


class TimedShipper(Shipper):
    """Stores rounds in Kafka, which takes time."""

    clock: "Synchronized[float]"

    def ship(self, rounds: Mapping[PulledLog, Round], its_costs: Mapping[PulledLog, Cost]) -> None:
        super().ship(rounds, its_costs)
        with self.clock.get_lock():
            self.clock.value += COMMIT_SECONDS


class Delays:
    """How far the logs were behind at each pass: seconds since the last visit of each instance."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.worst = 0.0

    def note(self, watches: list[Watch]) -> None:
        visited = [watch.visited_at for watch in watches if watch.visited_at]
        if len(visited) == len(watches):
            self.worst = max(self.worst, self._clock.now() - min(visited))


def pull(
    listed: Path, kafka: dict[str, object], clock: "Synchronized[float]", seconds: float
) -> dict[str, float]:
    """Runs the puller; returns its costs. Raises RuntimeError if a log has a problem or lacks bytes."""
    shipper, clients, time_ = TimedShipper(kafka, "bench"), Clients(), SharedClock(clock)
    shipper.clock = clock
    watches = [Watch(each.log(), clients.logs(each), LogState()) for each in load(listed)]
    problems: list[str] = []
    delays = Delays(time_)
    service = Service(watches, shipper, problems.append, time_)

    def after_pass(_: object) -> None:
        delays.note(watches)
        if clock.value >= BEGIN + seconds:
            service.stop()

    before = resource.getrusage(resource.RUSAGE_SELF)
    service.run(after_pass)
    after = resource.getrusage(resource.RUSAGE_SELF)
    problems += [f"{watch.log.instance}: {watch.problem}" for watch in watches if watch.problem]
    problems += [missing for number, watch in enumerate(watches) if (missing := unread(number, watch))]
    if problems:
        raise RuntimeError("; ".join(problems[:5]))
    return {
        "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "rss": after.ru_maxrss * 1024,
        "bytes": sum(watch.bytes for watch in watches),
        "delay": delays.worst,
    }


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
    options = parser.parse_args()
    os.environ |= {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "unused"}
    clock, asked = multiprocessing.Value("d", BEGIN), multiprocessing.Value("q", 0)
    ready: multiprocessing.Queue = multiprocessing.Queue()
    service = multiprocessing.Process(target=serve, args=(clock, asked, ready), daemon=True)
    service.start()
    with tempfile.TemporaryDirectory() as directory:
        stack = Stack(Path(directory, "home"), FIRST_PORT, components=("kafka",))
        stack.up()
        try:
            listed = Path(directory, "logs.json")
            listed.write_text(json.dumps(list_of(options.instances, ready.get())))
            kafka = {"bootstrap.servers": local_kafka.connect(stack.settings, stack.home, "pull").address}
            found = pull(listed, kafka, clock, options.minutes * 60)
        finally:
            stack.down()
            service.terminate()
    report(options.instances, clock.value - BEGIN, asked.value, found)


def report(instances: int, seconds: float, requests: int, found: dict[str, float]) -> None:
    pauses = dict(Counter(every_seconds(each) for each in range(instances)))
    print(f"{instances} instances, {seconds / HOUR:.2f} simulated hours; seconds between entries: {pauses}")
    print(f"{found['bytes'] / MB:.0f} MB; {requests} requests, {requests / seconds:.1f} a second")
    print(f"CPU of the puller: {found['cpu']:.0f} s, {found['cpu'] / seconds:.3f} cores")
    print(
        f"memory at most {found['rss'] / MB:.0f} MB; longest time between two visits {found['delay']:.0f} s"
    )


if __name__ == "__main__":
    main()
