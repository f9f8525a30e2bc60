"""Runs the whole stack for hours under load with random faults, and prints the trend of each resource.

`make soak HOURS=8`. One process at a time is killed, logs are renamed and deleted; at the end every table
must equal what was written. Memory, open files, checkpoints, parts and disk must be flat: the slope per hour
is printed with its 95 % interval. Exit code 0: exact, and nothing grows; 1: not exact; 2: exact, but
something grows.

--home DIR keeps the stack and its samples: a later run with the same directory continues them, so that eight
hours can be eight runs. TAILRACE_FLUENT_BIT chooses the collector.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from e2e.comparison import gaps
from e2e.soak.measurements import GROWS_WITH_DATA, LOGS, Observer, Samples
from e2e.soak.trends import Trend, trend
from e2e.stack import PORTS, Stack
from e2e.wait_for_idle import await_exact
from e2e.workload.writer import Workload
from tailrace_local.supervisor import control

FIRST_PORT = 21160
FURTHER_PORTS = ("METRICS", "DETECT", "CALLBACKS", "WITNESS", "KAFKA_INTERNAL")
PRODUCT = {
    "jvm_options_flink": "",
    "checkpoint_interval": "1000",
    "health_interval": "5",
    "memory_detect": "640",
}
"""Settings that users have, in place of those of tests. Detect has the heap for 3,500 entries a second."""
COMPONENTS = ("kafka", "clickhouse", "flink", "detect", "census", "repair", "fluentbit", "facts", "metrics")
COMPONENTS_OF_PAGES = ("superset", "evidence", "fingerprint", "witness", "transparency")
SAMPLE_MINUTES = 0.5
KEPT_FILES = 3
"""Renamed files of each log that remain; older ones are deleted once they are stored."""
EXACT_SECONDS = 1800
SHARE_PER_DAY = 0.10
LEAST_PER_DAY = {"MB": 50.0, "files": 24.0, "threads": 8.0, "parts": 1.0, "records": 1e6, "%": 5.0}
"""Growth per day that counts as flat, at least: a share of the median, or this much."""
MOST_COLLECTIONS = 10.0
"""Percent of a JVM's processor time. More of it is a heap that is too small."""
TOO_SMALL = "heap too small"
NOT_EXACT, GROWS = 1, 2


def main() -> int:
    options = _options()
    directory = options.home or Path(tempfile.mkdtemp(prefix="tailrace-soak-"))
    directory.mkdir(parents=True, exist_ok=True)
    samples = Samples(directory / "samples.jsonl")
    stack = _stack(directory / "home")
    try:
        stack.up()
        trouble = _Session(stack, samples, directory / "logs", options).run()
    finally:
        stack.down()
    grown = _print_trends(samples)
    if trouble:
        print(f"NOT EXACT (seed {options.seed}, kept in {directory}):\n{trouble}")
        return NOT_EXACT
    if not options.home:
        shutil.rmtree(directory)
    print(f"exact (seed {options.seed}); {', '.join(grown) or 'nothing'} grows")
    return GROWS if grown else 0


def _stack(home: Path) -> Stack:
    first = FIRST_PORT + len(PORTS)
    ports = {f"port_{name.lower()}": str(first + number) for number, name in enumerate(FURTHER_PORTS)}
    components = (*COMPONENTS, *COMPONENTS_OF_PAGES)
    return Stack(home, FIRST_PORT, components, few_rows=False, **PRODUCT, **ports)


class _Session:
    """One run: load, faults, renamed logs and samples until the time is over, then the comparison."""

    def __init__(self, stack: Stack, samples: Samples, logs: Path, options: argparse.Namespace) -> None:
        number = samples.sessions + 1
        self._stack = stack
        self._samples = samples
        self._options = options
        self._random = Random(options.seed + number)
        self._logs = logs / f"session-{number}"
        self._workload = Workload(self._logs, options.seed + number, f"soak{number}")
        self._observer = Observer(stack, number, self._written_bytes)
        self._done: Counter = Counter()

    def run(self) -> str:
        """Returns the differences between stored and written data; empty if there are none."""
        self._stack.watch(self._workload.logs)
        with self._workload.writing(self._options.rate):
            self._until(time.monotonic() + self._options.hours * 3600)
        self._stack.await_healthy()
        print(f"{self._workload.entries:,} entries; {dict(self._done)}", flush=True)
        try:
            await_exact(self._stack, self._workload.manifests, EXACT_SECONDS)
        except AssertionError as error:
            return str(error)
        self._end()
        return ""

    def _written_bytes(self) -> int:
        return sum(manifest.bytes for manifest in self._workload.manifests)

    def _until(self, end: float) -> None:
        """Acts when an action is due. The time between two actions is part of the experiment."""
        due = {action: time.monotonic() for action in self._pauses()} | {
            self._kill: self._after(self._options.pause),
            self._rotate: self._after(self._options.rename),
        }
        while (now := time.monotonic()) < end:
            action = min(due, key=lambda candidate: due[candidate])
            if due[action] > now:
                time.sleep(min(due[action], end) - now)
                continue
            action()
            due[action] = self._after(self._pauses()[action])

    def _pauses(self) -> dict[Callable[[], None], float]:
        """Returns the average minutes between two actions of each kind."""
        return {
            self._take_samples: SAMPLE_MINUTES,
            self._kill: self._options.pause,
            self._rotate: self._options.rename,
        }

    def _after(self, minutes: float) -> float:
        return time.monotonic() + 60 * minutes * self._random.uniform(0.5, 1.5)

    def _take_samples(self) -> None:
        self._samples.add(self._observer.samples())

    def _kill(self) -> None:
        running = [part.name for part in control.status(self._stack.home).components if part.pid]
        component = self._random.choice(running)
        print(
            f"{time.strftime('%H:%M:%S')} {self._workload.entries:11,} entries  kill -9 {component}",
            flush=True,
        )
        self._stack.kill(component)
        self._done[component] += 1

    def _rotate(self) -> None:
        self._workload.rotate(late=5)
        self._done["rename"] += 1
        for log in self._workload.logs:
            self._delete_stored(log.path)

    def _delete_stored(self, path: Path) -> None:
        """Deletes old files if nothing of the log but its last seconds is missing."""
        old = [file for file in path.parent.glob(f"{path.name}.*") if int(file.suffix[1:]) > KEPT_FILES]
        manifests = [log.manifest for log in self._workload.logs if log.path == path]
        if not old or gaps(self._stack.clickhouse(), manifests):
            return
        for file in old:
            file.unlink()

    def _end(self) -> None:
        """Stops watching the logs and deletes them: they are stored."""
        self._stack.unwatch(self._workload.logs)
        for log in self._workload.logs:
            log.close()
        shutil.rmtree(self._logs)


def _print_trends(samples: Samples) -> list[str]:
    """Prints a row for each resource; returns the names of those that grow and should not."""
    print(
        f"\n{samples.hours:.1f} hours in {samples.sessions} sessions; growth per hour with its 95 % interval"
    )
    print(f"{'resource':32} {'median':>10} {'unit':6} {'per hour':>10} {'from':>9} {'to':>9}  verdict")
    grown = []
    for (name, unit), lives in samples.series().items():
        found = trend(lives)
        verdict = _verdict(name, unit, found, trend(samples.beyond_logs(name, lives)))
        if found:
            slope = f"{found.per_hour:10,.2f} {found.low:9,.2f} {found.high:9,.2f}"
            print(f"{name:32} {found.median:10,.1f} {unit:6} {slope}  {verdict}")
        else:
            print(f"{name:32} {'':10} {unit:6} {'':10} {'':9} {'':9}  {verdict}")
        if verdict in ("grows", TOO_SMALL):
            grown.append(name)
    return grown


def _verdict(name: str, unit: str, found: Trend | None, beyond_logs: Trend | None) -> str:
    """`beyond_logs`: the trend without what the resource keeps for the logs that were written."""
    if found is None or beyond_logs is None:
        return "unknown: too few samples"
    if name in (*GROWS_WITH_DATA, LOGS):
        return "until the retention"
    if unit == "%" and found.median > MOST_COLLECTIONS:
        return TOO_SMALL
    return beyond_logs.verdict(SHARE_PER_DAY, LEAST_PER_DAY[unit])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="soak", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--hours", type=float, default=1)
    parser.add_argument("--rate", type=float, default=2000, help="entries per second (default: 2,000)")
    parser.add_argument("--pause", type=float, default=10, help="minutes between two kills (default: 10)")
    parser.add_argument("--rename", type=float, default=10, help="minutes between two renames (default: 10)")
    parser.add_argument("--home", type=Path, help="directory to keep and to continue")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="default: the time")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
