"""Megabytes per CPU-second into a real Kafka, in one run: Fluent Bit and the census with a file, the puller
with the same log from services like those of `bench_pull`: `make bench-pull-kafka`.

Lines and census are sent as in production; the collectors sign nothing. CPU time is that of the processes
without their start, and without Kafka. Every way must have sent the bytes of the log.
"""

import argparse
import itertools
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from e2e.bench_pull import MB, SOURCES, entries, serving
from e2e.pulling.puller import Puller
from e2e.stack import Stack, wait_until
from e2e.topics import await_bytes, committed
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
    parser.add_argument("--only", choices=SOURCES, action="append", help="these kinds of logs")
    options = parser.parse_args()
    os.environ["GOOGLE_SKIP_SIGNATURE"] = "true"
    with tempfile.TemporaryDirectory() as directory:
        stack = Stack(Path(directory, "home"), FIRST_PORT, components=("kafka", *COLLECTORS))
        stack.up()
        try:
            print(f"{'way':<20}{'MB':>8}{'CPU-seconds':>14}{'MB per CPU-second':>20}")
            for number in range(options.rounds):
                show("fluent-bit", *of_file(stack, Path(directory), number, options.megabytes))
                for kind, is_signing in itertools.product(options.only or SOURCES, (False, True)):
                    way = f"{kind}, signed" if is_signing else kind
                    where = Path(directory, way)
                    show(way, *of_service(stack, where, kind, number, options.megabytes, is_signing))
        finally:
            Puller.end_all()
            stack.down()


def show(way: str, size: int, seconds: float) -> None:
    print(f"{way:<20}{size / MB:>8.0f}{seconds:>14.1f}{size / MB / seconds:>20.1f}", flush=True)


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
    require_log(stack, path.parent.name, megabytes)
    return written.stat().st_size, seconds


def of_service(
    stack: Stack, directory: Path, kind: str, number: int, megabytes: float, is_signing: bool
) -> tuple[int, float]:
    """Pulls a log of the service; returns its bytes and the CPU-seconds of the puller."""
    start = pulled(stack, directory / f"start-{number}", kind, 0, is_signing)[1]
    size, seconds = pulled(stack, directory / f"{number}", kind, megabytes, is_signing)
    return size, seconds - start


def pulled(stack: Stack, directory: Path, kind: str, megabytes: float, is_signing: bool) -> tuple[int, float]:
    make, keys = SOURCES[kind]
    answer, size = make(megabytes)
    directory.mkdir(parents=True)
    name = f"{kind}-{directory.name}-{is_signing}"
    log = {"instance": name, "cluster": "bench", "source": "slowlog", "db_instance": "prod", **keys}
    with serving(answer) as address:
        kafka = local_kafka.connect(stack.settings, stack.home, "pull")
        puller = Puller(kafka, directory, address, log, is_signing)
        puller.start()
        wait_until(lambda: puller.bytes() >= size, "all lines to be in Kafka")
        process = procfs.read(puller.pid)
        assert process and puller.bytes() == size
        puller.stop()
    require_log(stack, name, megabytes)
    return size, process.cpu_seconds


def require_log(stack: Stack, instance: str, megabytes: float) -> None:
    """Raises RuntimeError unless the lines in Kafka are those of the log."""
    records = committed(stack.settings, TOPIC, instance)
    lines = {each["offset"]: _bytes(each["log"]) for each in records if "log" in each}
    sent = b"".join(lines[offset] + b"\n" for offset in sorted(lines))
    if sent != "".join(entries(megabytes)).encode():
        raise RuntimeError(f"{instance}: the lines in Kafka are not those of the log")


def _bytes(text: str | bytes) -> bytes:
    """Fluent Bit sends text, the puller bytes."""
    return text.encode() if isinstance(text, str) else text


def spent(cpu_seconds: Callable[[], float], act: Callable[[], None]) -> float:
    before = cpu_seconds()
    act()
    return cpu_seconds() - before


if __name__ == "__main__":
    main()
