"""`tailrace digest` beside its peers: `make bench-peers`.

    pt-query-digest   Debian's percona-toolkit: parses, fingerprints, aggregates
    go-mysql          Percona's Go library: parses and fingerprints, aggregates nothing
    tailrace digest   parses, fingerprints, aggregates; with the start of Python and the JVM

All read the same files on the same core. Their counts are compared before ours are printed: a difference that
is not known and explained here is an error. Time is CPU time (user and system) of the whole process and its
children. Then ours reads each log on two cores: how much sooner it ends, and whether it says the same.
"""

import argparse
import gzip
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

REPOSITORY = Path(__file__).resolve().parents[2]
PEERS = Path(__file__).resolve().parent
CORPORA = Path(os.environ.get("TAILRACE_CORPORA", REPOSITORY / ".." / "shared" / "corpora"))
SYSBENCH = CORPORA / "ours" / "large" / "mariadb-10.11.19-sysbench.slow.log.gz"
REAL_LOGS = CORPORA / "ours" / "slow" / "real"
TAILRACE = str(REPOSITORY / "bin" / "tailrace")
REPORT = REPOSITORY / "docs" / "BENCHMARKS.md"
BEGIN, END = "<!-- bench-peers -->", "<!-- /bench-peers -->"
MIX_BYTES = 256 << 20
SYSBENCH_COPIES = 8
HUGE_COPIES = 80
MEGABYTE = 1e6
ALL = ("pt-query-digest", "go-mysql", "tailrace")
FAST = ("go-mysql", "tailrace")
OURS = ("tailrace",)
VERSIONS = (("java", "-version"), ("go", "version"), ("pt-query-digest", "--version"))

MEASURE = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stderr=subprocess.DEVNULL)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss, file=sys.stderr)
sys.exit(code)
"""
"""Runs a command and prints its CPU seconds and peak in KiB. It is a separate, small process: the kernel
adds the memory of the parent process to the peak, and this process holds reports of 50,000 classes."""


@dataclass(frozen=True)
class Log:
    name: str
    path: Path
    tools: tuple[str, ...]
    known: dict[str, str]
    """Why a peer's number of entries differs from ours, by peer."""


@dataclass(frozen=True)
class Run:
    entries: int
    classes: int
    cpu_seconds: float
    seconds: float
    peak_megabytes: float
    report: str
    """SHA-256 of what it printed. The text itself may be large, and a child's peak starts with our memory."""


@dataclass(frozen=True)
class Tool:
    name: str
    command: Callable[[Path], list[str]]
    counts: Callable[[dict], tuple[int, int]]


def main(words: Sequence[str] | None = None) -> int:
    options = _options(words)
    if not SYSBENCH.exists():
        print(f"skipped: there is no {SYSBENCH}; set TAILRACE_CORPORA")
        return 0
    options.directory.mkdir(parents=True, exist_ok=True)
    tools = _tools(options.directory)
    rows = []
    pairs = []
    for log in _logs(options):
        for tool in tools:
            if tool.name in log.tools:
                rows.append((log, tool, _measured(tool, log, options, [options.core])))
                _check_counts(log, rows)
                print(_line(*rows[-1], rows), flush=True)
        pairs.append((log, rows[-1][2], _measured(tools[-1], log, options, options.cores)))
        _check_reports(*pairs[-1])
        print(_scaling(*pairs[-1]), flush=True)
    if options.write:
        _write(rows, pairs)
    return 0


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--core", type=int, default=1, help="the processor that all run on (default: 1)")
    parser.add_argument(
        "--cores", type=int, nargs=2, default=[0, 1], help="the two on which ours scales (default: 0 1)"
    )
    parser.add_argument(
        "--huge", action="store_true", help="read a log of 10 GB too, which is made in --directory"
    )
    parser.add_argument("--runs", type=int, default=1, help="runs of each; the median counts (default: 1)")
    parser.add_argument(
        "--directory", type=Path, default=Path("/tmp/tailrace-bench-peers"), help="for the inputs"
    )
    parser.add_argument("--write", action="store_true", help=f"write the table into {REPORT.name}")
    return parser.parse_args(words)


def _tools(directory: Path) -> list[Tool]:
    if shutil.which("pt-query-digest") is None or shutil.which("go") is None:
        sys.exit("needs pt-query-digest (apt-get install percona-toolkit) and go")
    gomysql = directory / "gomysql"
    subprocess.run(["go", "build", "-o", gomysql, "./gomysql"], cwd=PEERS, check=True)
    subprocess.run(
        [TAILRACE, "digest", "--help"], stdout=subprocess.DEVNULL, check=True
    )  # builds it, the first time
    return [
        Tool(
            "pt-query-digest",
            lambda log: ["pt-query-digest", "--output", "json", "--limit", "1", str(log)],
            lambda result: (result["global"]["query_count"], result["global"]["unique_query_count"]),
        ),
        Tool(
            "go-mysql",
            lambda log: [str(gomysql), str(log)],
            lambda result: (result["entries"], result["classes"]),
        ),
        Tool(
            "tailrace",
            lambda log: [TAILRACE, "digest", "--json", "--limit", "1", str(log)],
            _our_counts,
        ),
    ]


def _our_counts(result: dict) -> tuple[int, int]:
    return result["entries"], result.get("groups_total", result.get("classes_total"))


def _logs(options: argparse.Namespace) -> list[Log]:
    """Makes the logs that are missing. Each comes from the same bytes every time."""
    directory = options.directory
    sysbench = directory / "sysbench.slow.log"
    _make(sysbench, lambda out: _unpack(out, 1))
    large = directory / "sysbench-x8.slow.log"
    _make(large, lambda out: _unpack(out, SYSBENCH_COPIES))
    mix = directory / "mix.slow.log"
    _make(mix, _mix)
    generated = directory / "many-classes.slow.log"
    _make(generated, _generate)
    forged = "counts headers within literals as entries"
    dropped = "skips some entries, such as SET NAMES and RENAME TABLE, and merges others"
    logs = [
        Log("sysbench, 131 MB", sysbench, ALL, {"go-mysql": forged, "pt-query-digest": dropped}),
        Log("sysbench, eight times", large, FAST, {"go-mysql": forged}),
        Log("real logs, mixed", mix, ALL, {"go-mysql": forged, "pt-query-digest": dropped}),
        Log("50,000 classes, generated", generated, ALL, {}),
    ]
    if options.huge:
        huge = directory / "sysbench-x80.slow.log"
        _make(huge, lambda out: _unpack(out, HUGE_COPIES))
        logs.append(Log("sysbench, eighty times", huge, OURS, {}))
    return logs


def _make(path: Path, write: Callable) -> None:
    if path.exists():
        return
    draft = path.with_suffix(".draft")
    with draft.open("wb") as out:
        write(out)
    draft.rename(path)


def _unpack(out, copies: int) -> None:
    for _ in range(copies):
        with gzip.open(SYSBENCH) as packed:
            shutil.copyfileobj(packed, out, 1 << 20)


def _mix(out) -> None:
    while out.tell() < MIX_BYTES:
        for path in sorted(REAL_LOGS.glob("*.log")):
            out.write(path.read_bytes())


def _generate(out) -> None:
    subprocess.run(["go", "run", "./generate"], cwd=PEERS, stdout=out, check=True)


def _measured(tool: Tool, log: Log, options: argparse.Namespace, cores: Sequence[int]) -> Run:
    runs = [_run(tool, log, cores) for _ in range(options.runs)]
    middle = median(run.cpu_seconds for run in runs)
    return min(runs, key=lambda run: abs(run.cpu_seconds - middle))


def _run(tool: Tool, log: Log, cores: Sequence[int]) -> Run:
    command = ["taskset", "-c", ",".join(map(str, cores)), *tool.command(log.path)]
    started = time.monotonic()
    completed = subprocess.run([sys.executable, "-I", "-S", "-c", MEASURE, *command], capture_output=True)
    seconds = time.monotonic() - started
    if completed.returncode != 0:
        sys.exit(f"{tool.name} failed on {log.path.name}: {completed.returncode}")
    entries, classes = tool.counts(_json(completed.stdout))
    cpu_seconds, peak = (float(value) for value in completed.stderr.split())
    digest = hashlib.sha256(completed.stdout).hexdigest()
    return Run(entries, classes, cpu_seconds, seconds, peak * 1024 / MEGABYTE, digest)


def _json(output: bytes) -> dict:
    text = output.decode("utf-8", "replace")
    return json.JSONDecoder(strict=False).raw_decode(text[text.index("{") :])[0]


def _check_counts(log: Log, rows: list[tuple[Log, Tool, Run]]) -> None:
    """All count the same entries, or the difference is known."""
    runs = {tool.name: run for of, tool, run in rows if of is log}
    if "tailrace" not in runs:
        return
    for name, run in runs.items():
        if run.entries != runs["tailrace"].entries and name not in log.known:
            sys.exit(f"{name} counts {run.entries} entries in {log.name}, we {runs['tailrace'].entries}")


def _check_reports(log: Log, alone: Run, both: Run) -> None:
    """Several threads report the same as one."""
    if alone.report != both.report:
        sys.exit(f"the report of {log.name} on two cores differs from that on one")


def _scaling(log: Log, alone: Run, both: Run) -> str:
    rates = " | ".join(f"{log.path.stat().st_size / MEGABYTE / run.seconds:.0f}" for run in (alone, both))
    seconds = f"{alone.seconds:.1f} | {both.seconds:.1f} | {alone.seconds / both.seconds:.2f}"
    return f"| {log.name} | {seconds} | {rates} | {both.cpu_seconds:.1f} | {both.peak_megabytes:.0f} |"


def _line(log: Log, tool: Tool, run: Run, rows: list[tuple[Log, Tool, Run]]) -> str:
    rate = log.path.stat().st_size / MEGABYTE / run.cpu_seconds
    peers = [
        f"{other.cpu_seconds / run.cpu_seconds:.1f} x {peer.name}"
        for of, peer, other in rows
        if of is log and tool.name == "tailrace" and peer is not tool
    ]
    counts = f"{run.entries:,} | {run.classes:,} | {run.cpu_seconds:.1f} | {rate:.0f}"
    rates = f"{run.entries / run.cpu_seconds:,.0f} | {run.peak_megabytes:.0f}"
    return f"| {log.name} | {tool.name} | {counts} | {rates} | {', '.join(peers)} |"


def _write(rows: list[tuple[Log, Tool, Run]], pairs: list[tuple[Log, Run, Run]]) -> None:
    lines = [
        BEGIN,
        f"{_processor()}, one core, {platform.system()} {platform.release()};",
        "; ".join(_version(*words) for words in VERSIONS) + ".",
        "",
        "| log | tool | entries | classes | CPU s | MB per CPU s | entries per CPU s | peak MB | |",
        "|---|---|--:|--:|--:|--:|--:|--:|---|",
        *(_line(*row, rows) for row in rows),
        "",
        *(
            f"- {log.name}: {peer} {why}."
            for log in {row[0].name: row[0] for row in rows}.values()
            for peer, why in log.known.items()
        ),
        "",
        "`tailrace digest` on one core and on two cores, elapsed seconds (on an otherwise idle machine):",
        "",
        "| log | one core, s | two, s | speedup | MB/s on one | on two | CPU s on two | peak MB on two |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
        *(_scaling(*pair) for pair in pairs),
        END,
    ]
    text = REPORT.read_text()
    before, after = text[: text.index(BEGIN)], text[text.index(END) + len(END) :]
    REPORT.write_text(before + "\n".join(lines) + after)


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def _version(*command: str) -> str:
    completed = subprocess.run(command, capture_output=True, text=True)
    return (completed.stdout or completed.stderr).splitlines()[0].strip()


if __name__ == "__main__":
    sys.exit(main())
