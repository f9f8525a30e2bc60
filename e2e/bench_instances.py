"""The stack with many servers that have little traffic each: `make bench-instances INSTANCES=10000`.

Each server has a slow log and an audit log. With any number of servers the same entries are written in
total, over hours of event time. The records are in Kafka as collectors write them; the other parts are real.

    load      the entries, and a census of each log every hour
    killed    the last hour, during which both jobs are killed
    still     nothing arrives for a minute: what state costs
    censuses  each log has a census every ten seconds for a minute, and no entry

Then every table is compared with what was written, and commands and pages are timed. Judge by CPU-seconds.
"""

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from confluent_kafka import Producer

from e2e.comparison import differences, incomplete
from e2e.instances import measured, report
from e2e.instances.workload import CENSUS_TOPIC, HOUR, Fleet, send
from e2e.stack import Stack, wait_until
from tailrace.ledger import listed_logs

FIRST_PORT = int(os.environ.get("BENCH_INSTANCES_FIRST_PORT", "22720"))
PARTS = ("kafka", "clickhouse", "flink", "detect", "metrics", "superset")
EVENTS = "tailrace.events"
HOURS = 3
STILL_SECONDS = 60
CENSUS_SECONDS = 10
CENSUS_ROUNDS = 6
PATIENCE_SECONDS = 3600
PRODUCT = {
    "jvm_options_flink": "",
    "checkpoint_interval": "1000",
    "gap_timeout": "30",
    "memory_flink": "1536",
    "memory_detect": "1024",
}
"""Settings that users have, in place of those of tests, with memory for 10,000 servers."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-instances", description=__doc__)
    parser.add_argument("--instances", type=int, nargs="+", default=[10, 100, 1000, 10_000])
    parser.add_argument(
        "--entries", type=int, default=120_000, help="in total; at least one per log and hour"
    )
    parser.add_argument(
        "--hours", type=int, default=HOURS, help="of event time; in the last one, jobs are killed"
    )
    parser.add_argument("--output", type=Path, help="writes the measurements as JSON")
    parser.add_argument("--without-pages", action="store_true", help="without Superset")
    parser.add_argument("--keep", action="store_true", help="leaves the last stack running")
    options = parser.parse_args()
    runs = []
    for count in options.instances:
        keep = options.keep and count == options.instances[-1]
        wanted = Wanted(count, options.entries, options.hours, not options.without_pages, keep)
        runs.append(measure(wanted))
        report.show(runs[-1])
        if options.output:
            options.output.write_text(report.to_json(runs))
    report.compare(runs)


@dataclass(frozen=True)
class Wanted:
    """What a run measures."""

    count: int
    entries: int
    hours: int
    has_pages: bool
    keep: bool


def measure(wanted: Wanted) -> report.Run:
    directory = Path(tempfile.mkdtemp(prefix="tailrace-instances-"))
    ports = {f"port_{name}": str(FIRST_PORT + 10 + n) for n, name in enumerate(("detect", "metrics"))}
    parts = PARTS if wanted.has_pages else PARTS[:-1]
    stack = Stack(directory / "home", FIRST_PORT, parts, few_rows=False, **PRODUCT, **ports)
    stack.up()
    try:
        return _measured(stack, wanted)
    finally:
        if wanted.keep:
            print(f"TAILRACE_HOME={stack.home.root}")
        else:
            stack.down()
            shutil.rmtree(directory)


def _measured(stack: Stack, wanted: Wanted) -> report.Run:
    end = time.time() // 60 * 60 - 2 * CENSUS_ROUNDS * CENSUS_SECONDS
    fleet = Fleet(wanted.count, wanted.entries, wanted.hours, end)
    run = report.Run(wanted.count, len(fleet.logs))
    run.load = os.getloadavg()[0]
    _list(stack, fleet)
    producer = Producer(
        {"bootstrap.servers": f"127.0.0.1:{stack.settings.port_kafka}", "linger.ms": 50, "acks": "all"}
    )
    run.spent += _feed(stack, fleet, producer)
    run.entries = fleet.entries
    wrong = differences(stack.clickhouse(), fleet.manifests)
    assert not wrong, f"{len(wrong)} differences, such as {wrong[:3]}"
    run.jobs = {name: asdict(measured.job_state(stack, name)) for name in measured.JOBS}
    run.tables = measured.rows_by_table(stack)
    run.topics, run.partitions = measured.partitions(stack)
    run.answers = [asdict(each) for each in _answers(stack, fleet.logs[0].instance)]
    return run


def _answers(stack: Stack, instance: str) -> Iterator[measured.Answer]:
    yield measured.metrics(stack)
    yield from measured.commands(stack)
    if "superset" in stack.ports():
        yield from measured.pages(stack, instance)


def _list(stack: Stack, fleet: Fleet) -> None:
    """Records the logs as their hosts do, with a time at which their censuses are due."""
    listed = f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(time.time() - HOURS * HOUR))}"
    rows = [
        {
            "cluster": log.cluster,
            "instance": log.instance,
            "source": log.shape.source,
            "log": str(log.path),
            "host": log.instance,
            "action": listed_logs.LISTED,
            "at": listed,
        }
        for log in fleet.logs
    ]
    stack.clickhouse().append(f"{listed_logs.TABLE} ({', '.join(rows[0])})", rows)


def _feed(stack: Stack, fleet: Fleet, producer: Producer) -> Iterator[measured.Spent]:
    with measured.spending(stack, "load") as spent:
        for hour in range(fleet.hours - 1):
            spent.records += send(producer, fleet.hour(hour))
        _await(stack, fleet)
    yield spent
    send(producer, fleet.hour(fleet.hours - 1))
    for job in measured.JOBS:
        stack.kill(job)
    stack.await_healthy()
    _await(stack, fleet)
    with measured.spending(stack, "still") as spent:
        time.sleep(STILL_SECONDS)
    yield spent
    with measured.spending(stack, "censuses") as spent:
        spent.records = _censuses(fleet, producer)
        _await(stack, fleet)
    yield spent


def _censuses(fleet: Fleet, producer: Producer) -> int:
    """Sends them at the rate of collectors; returns the number of censuses."""
    due = time.monotonic()
    for _ in range(CENSUS_ROUNDS):
        for begin in range(0, len(fleet.logs), max(1, len(fleet.logs) // CENSUS_SECONDS)):
            some = fleet.logs[begin : begin + max(1, len(fleet.logs) // CENSUS_SECONDS)]
            send(producer, (record for log in some for record in log.census(time.time())))
            due += CENSUS_SECONDS * len(some) / len(fleet.logs)
            time.sleep(max(0.0, due - time.monotonic()))
    return CENSUS_ROUNDS * len(fleet.logs)


def _await(stack: Stack, fleet: Fleet) -> None:
    """Returns when each entry is a row, and both jobs have read all records."""
    clickhouse = stack.clickhouse()
    wait_until(
        lambda: not incomplete(clickhouse, fleet.manifests),
        "all entries to be rows",
        seconds=PATIENCE_SECONDS,
    )
    lines = sorted({log.topic for log in fleet.logs})
    for group, topics in (("tailrace-normalize", lines), ("tailrace-detect", (CENSUS_TOPIC, EVENTS))):
        wait_until(
            lambda group=group, topics=topics: not measured.unread(stack, group, topics),
            f"{group} to have read all records",
            seconds=PATIENCE_SECONDS,
        )


if __name__ == "__main__":
    main()
