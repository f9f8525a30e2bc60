"""The measurements of runs with different numbers of servers, as tables."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from e2e.instances.measured import Spent

MB = 1_000_000
WIDEST_TABLES = 12


@dataclass
class Run:
    """One run. `jobs` and `answers` have the fields of `measured.JobState` and `measured.Answer`."""

    instances: int
    logs: int
    entries: int = 0
    load: float = 0.0
    topics: int = 0
    partitions: int = 0
    spent: list[Spent] = field(default_factory=list)
    jobs: dict[str, dict] = field(default_factory=dict)
    tables: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Rows and bytes by table."""
    answers: list[dict] = field(default_factory=list)


def to_json(runs: Sequence[Run]) -> str:
    return json.dumps([asdict(run) for run in runs], indent=1)


def show(run: Run) -> None:
    print(f"\n{run.instances:,} instances, {run.logs:,} logs, {run.entries:,} entries; load {run.load:.0f}")
    print(f"topics {run.topics}, partitions {run.partitions}")
    names = [name for name, seconds in run.spent[0].cpu.items() if seconds or name != "superset"]
    print(f"{'CPU s':10}{'elapsed':>9}{'records':>10}" + "".join(f"{name:>12}" for name in names))
    for spent in run.spent:
        cpu = "".join(f"{spent.cpu[name]:12.1f}" for name in names)
        print(f"{spent.what:10}{spent.seconds:9.0f}{spent.records:10,}{cpu}")
    for name, state in run.jobs.items():
        print(
            f"{name:10} checkpoint {state['checkpoint'] / MB:.1f} MB in {state['millis']} ms,"
            f" live heap {state['heap'] / MB:.0f} MB"
        )
    print(f"{'table':30}{'rows':>12}{'MB':>8}")
    for name, (rows, size) in [*run.tables.items()][:WIDEST_TABLES]:
        print(f"{name:30}{rows:12,}{size / MB:8.1f}")
    print(f"{'answer':60}{'s':>8}{'own CPU':>9}{'servers':>9}{'kB':>8}{'queries':>9}")
    for each in run.answers:
        print(
            f"{each['what']:60}{each['seconds']:8.1f}{each['own_cpu']:9.1f}{each['server_cpu']:9.1f}"
            f"{each['size'] / 1000:8.0f}{each['queries']:9}",
            flush=True,
        )


def compare(runs: Sequence[Run]) -> None:
    """Prints one column for each run."""
    print(f"\n{'instances':60}" + "".join(f"{run.instances:>12,}" for run in runs))
    for phase, first in enumerate(runs[0].spent):
        for name in first.cpu:
            _row(f"{first.what}, CPU s of {name}", [run.spent[phase].cpu[name] for run in runs])
    for name in runs[0].jobs:
        _row(f"checkpoint of {name}, MB", [run.jobs[name]["checkpoint"] / MB for run in runs])
        _row(f"live heap of {name}, MB", [run.jobs[name]["heap"] / MB for run in runs])
    for number, answer in enumerate(runs[0].answers):
        totals = [run.answers[number]["own_cpu"] + run.answers[number]["server_cpu"] for run in runs]
        _row(f"{answer['what']}, CPU s", totals)


def _row(title: str, values: Sequence[float]) -> None:
    print(f"{title:60}" + "".join(f"{value:12.2f}" for value in values))
