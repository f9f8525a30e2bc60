"""Megabytes per CPU-second into a real Kafka, in one run: Fluent Bit and the census with a file, the puller
with the same log from a service like RDS: `make bench-pull-kafka`.

Lines and census are sent as in production; the collectors sign nothing. CPU time is that of the processes
without their start, and without Kafka.
"""

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from e2e.bench_pull import LIVE, MB, Answer, entries, rds, serving
from e2e.pulling.puller import Puller
from e2e.stack import Stack, wait_until
from e2e.topics import await_bytes
from tailrace.sources.sources_file import Source
from tailrace_local import kafka as local_kafka
from tailrace_local.supervisor import procfs

FIRST_PORT = int(os.environ.get("BENCH_PULL_FIRST_PORT", "22680"))
TOPIC = "tailrace.slowlog.lines"
COLLECTORS = ("fluentbit", "census")


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-pull-kafka", description=__doc__)
    parser.add_argument("--megabytes", type=float, default=100, help="size of the log")
    parser.add_argument("--rounds", type=int, default=2, help="times that each way is measured, in turn")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        stack = Stack(Path(directory, "home"), FIRST_PORT, components=("kafka", *COLLECTORS))
        stack.up()
        try:
            print(f"{'way':<16}{'MB':>8}{'CPU-seconds':>14}{'MB per CPU-second':>20}")
            for number in range(options.rounds):
                show("fluent-bit", *of_file(stack, Path(directory), number, options.megabytes))
                for way, is_signing in (("puller", False), ("with signatures", True)):
                    show(way, *of_service(stack, Path(directory, way), number, options.megabytes, is_signing))
        finally:
            Puller.end_all()
            stack.down()


def show(way: str, size: int, seconds: float) -> None:
    print(f"{way:<16}{size / MB:>8.0f}{seconds:>14.1f}{size / MB / seconds:>20.1f}", flush=True)


def of_file(stack: Stack, directory: Path, number: int, megabytes: float) -> tuple[int, float]:
    """Lets the collectors ship a file; returns its bytes and their CPU-seconds."""
    written = directory / "written.log"
    written.write_text("".join(entries(megabytes)))
    path = directory / f"file-{number}" / "slow.log"
    path.parent.mkdir()
    stack.watch_sources([Source(path.parent.name, "slowlog", path.resolve(), "bench")])

    def ship() -> None:
        os.link(written, path)
        await_bytes(stack.settings, TOPIC, path.parent.name, written.stat().st_size)

    seconds = spent(lambda: sum(stack.status(name).cpu_seconds for name in COLLECTORS), ship)
    return written.stat().st_size, seconds


def of_service(
    stack: Stack, directory: Path, number: int, megabytes: float, is_signing: bool
) -> tuple[int, float]:
    """Pulls a log of the service; returns its bytes and the CPU-seconds of the puller."""
    start = pulled(stack, directory / f"start-{number}", rds(0), is_signing)[1]
    size, seconds = pulled(stack, directory / f"rds-{number}", rds(megabytes), is_signing)
    return size, seconds - start


def pulled(stack: Stack, directory: Path, service: tuple[Answer, int], is_signing: bool) -> tuple[int, float]:
    answer, size = service
    directory.mkdir(parents=True)
    name = f"{directory.name}-{is_signing}"
    log = {"instance": name, "cluster": "bench", "source": "slowlog", "kind": "rds", "file": LIVE}
    log |= {"region": "eu-central-1", "db_instance": name}
    with serving(answer) as address:
        kafka = local_kafka.connect(stack.settings, stack.home, "pull")
        puller = Puller(kafka, directory, address, log, is_signing)
        puller.start()
        wait_until(lambda: puller.bytes() >= size, "all lines to be in Kafka")
        process = procfs.read(puller.pid)
        assert process and puller.bytes() == size
        puller.stop()
    return size, process.cpu_seconds


def spent(cpu_seconds: Callable[[], float], act: Callable[[], None]) -> float:
    before = cpu_seconds()
    act()
    return cpu_seconds() - before


if __name__ == "__main__":
    main()
