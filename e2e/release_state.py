"""Writes what a version leaves to the next one: savepoints, rows and the messages that follow.

    make release-state NAME=v0.1.0 REPOSITORY=../release

Runs the one-machine stack of a checkout (default: this one), feeds it the beginning of a log of each kind and
takes a savepoint of both jobs. Each log then stops within an entry or an attack. Then the rest follows,
because the directory also shows what the version itself makes of it. A test restores the savepoints into the
current jobs, sends the same messages and compares the rows:
stream-jobs/flink-jobs/src/test/resources/savepoints/README.md.
"""

import argparse
import base64
import gzip
import io
import json
import os
import re
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from tailrace.clickhouse.client import ClickHouse
from tailrace.config.resources import REPOSITORY
from tailrace.credentials.names import password_name
from tailrace.demo import time_shift

SAMPLES = REPOSITORY / "samples"
GOLDEN = REPOSITORY / "stream-jobs/query-core/src/test/resources/golden"
COMPONENTS = "kafka,clickhouse,flink,detect,census,fluentbit"
COLLECTORS = ("census", "fluentbit")
PORTS = (
    "KAFKA",
    "KAFKA_CONTROLLER",
    "CLICKHOUSE",
    "CLICKHOUSE_NATIVE",
    "FLINK",
    "DETECT",
    "FLUENTBIT",
    "METRICS",
    "SUPERSET",
)
FIRST_PORT = 27710
SPAN_SECONDS = 1500
"""Of the times before the savepoint."""
REST_SECONDS = 200
"""Of the times after it: event time may be five minutes ahead of the clock of the detect job."""
QUIET_SECONDS = 20
"""So long nothing may change before the stack counts as idle: two checkpoints of the detect job."""
IDLE_SECONDS = 600
ZIP_TIME = (2026, 1, 1, 0, 0, 0)

TABLES = (
    "query_events",
    "audit_events",
    "error_events",
    "fingerprints",
    "plans",
    "ledger",
    "dead_letters",
    "alerts",
    "data_access",
    "rule_coverage",
    "plan_changes",
)
INPUTS = re.compile(r"tailrace\.(\w+\.lines|files|rules)")
"""Topics whose messages are kept. The events follow from the lines."""
COUNTED = re.compile(r"tailrace\.(\w+\.lines|files|rules|events)|otlp_spans")
"""Topics in which a job has a position."""

WITHIN_AN_ENTRY = re.compile(rb"\s*(# User@Host|<AUDIT_RECORD|\{\s*$|\*\*\* \(1\) TRANSACTION)")
"""A line after which a log of several lines per entry is cut: the framer then holds half an entry."""


@dataclass(frozen=True)
class Log:
    """A log to feed: its first `lines` lines, the first part up to the cut before the savepoint."""

    instance: str
    source: str
    file: Path
    lines: int = 400
    cut_after: int = 0
    """Number of the last line before the savepoint; 0: within an entry after three fifths."""


# An action that two logs of a server record has the id of the event that arrives first. Servers with equal
# users therefore have one log each.
LOGS = (
    Log("release-mysql", "slowlog", SAMPLES / "mysql-8.0.46.slow.log", 300),
    Log("release-percona", "slowlog", SAMPLES / "pxc-5.7.20.slow.log", 300),
    Log("release-orders", "slowlog", SAMPLES / "mariadb-10.11.19.shop.slow.log", 400),
    # Line 689 is in the middle of the login attempts.
    Log("release-shop", "audit", SAMPLES / "mariadb-10.11.19.shop.server_audit.log", 1110, 689),
    Log("release-stock", "errorlog", SAMPLES / "mariadb-10.11.19.stock.error.log", 400),
    Log("release-json", "audit", SAMPLES / "pxc-5.7.20.audit.json.log", 150),
    Log("release-mysql", "general", GOLDEN / "mysql-general/mysql-8.0/input.log"),
    Log("release-mysql", "errorlog", GOLDEN / "mysql-error/mysql-8.0-deadlock/input.log"),
    Log("release-xml", "audit", GOLDEN / "percona-audit-xml-new/pxc-5.7/input.log"),
    Log("release-xml-old", "audit", GOLDEN / "percona-audit-xml-old/pxc-5.7/input.log"),
    Log("release-csv", "audit", GOLDEN / "percona-audit-csv/every-record/input.log"),
    Log("release-filter", "audit", GOLDEN / "percona-audit-filter-json/every-class/input.log"),
    Log("release-enterprise", "audit", GOLDEN / "mysql-enterprise-audit-json/every-kind/input.log"),
)


class Release:
    """A running stack of a checkout; only its commands and its settings are used."""

    def __init__(
        self,
        repository: Path,
        home: Path,
        first_port: int,
        components: str = COMPONENTS,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.repository = repository
        self.settings = settings or {}
        self.components = components
        self.home = home
        self.ports = {name: first_port + number for number, name in enumerate(PORTS)}
        self.sources = home / "sources.yaml"

    def run(self, *words: str) -> str:
        """Runs `tailrace`; returns what it printed. Raises CalledProcessError."""
        environment = {
            **os.environ,
            "TAILRACE_HOME": str(self.home),
            "TAILRACE_PARTS": self.components,  # the name in 0.1.0, which 0.2.0 still knows
            **{f"TAILRACE_PORT_{name}": str(port) for name, port in self.ports.items()},
            **self.settings,
        }
        print("tailrace", *words, flush=True)
        done = subprocess.run(
            [self.repository / "bin/tailrace", *words],
            env=environment,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        return done.stdout

    def kafka(self) -> dict[str, str]:
        return {"bootstrap.servers": f"127.0.0.1:{self.ports['KAFKA']}"}

    def clickhouse(self) -> ClickHouse:
        password = (self.home / "secrets" / password_name("admin")).read_text().strip()
        return ClickHouse(f"http://127.0.0.1:{self.ports['CLICKHOUSE']}", "admin", password)

    def ends(self) -> dict[str, list[int]]:
        """The next offset of each partition, by topic."""
        admin = AdminClient(self.kafka())
        topics = admin.list_topics(timeout=30).topics
        asked = {
            TopicPartition(name, partition): OffsetSpec.latest()
            for name, topic in sorted(topics.items())
            if COUNTED.fullmatch(name)
            for partition in sorted(topic.partitions)
        }
        answers = {key: future.result().offset for key, future in admin.list_offsets(asked).items()}
        ends: dict[str, list[int]] = {}
        for key in asked:
            ends.setdefault(key.topic, []).append(answers[key])
        return ends

    def rows(self) -> dict[str, list[str]]:
        """The rows of each table as JSON, sorted."""
        clickhouse = self.clickhouse()
        return {
            table: sorted(
                json.dumps(row)
                for row in clickhouse.rows(f"SELECT * FROM tailrace.{table} SETTINGS final = 1")
            )
            for table in TABLES
        }

    def savepoint(self, *component: str) -> Path:
        printed = self.run("savepoint", *component)
        return Path(re.search(r"savepoint \d+ in (\S+)", printed)[1])

    def await_idle(self) -> None:
        """Waits until no topic and no table has grown for a while; the collectors must be stopped."""
        _until_quiet(lambda: (self.ends(), {table: len(rows) for table, rows in self.rows().items()}))


def _until_quiet(state: Callable[[], object]) -> None:
    deadline = time.monotonic() + IDLE_SECONDS
    last, since = state(), time.monotonic()
    while time.monotonic() - since < QUIET_SECONDS:
        if time.monotonic() > deadline:
            raise TimeoutError(f"the stack is not idle after {IDLE_SECONDS} s")
        time.sleep(2)
        now = state()
        if now != last:
            last, since = now, time.monotonic()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path, help="named after the release; must not exist")
    parser.add_argument("--repository", type=Path, default=REPOSITORY, help="a checkout of the release")
    parser.add_argument("--first-port", type=int, default=FIRST_PORT)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="release") as home:
        release = Release(arguments.repository.resolve(), Path(home), arguments.first_port)
        try:
            arguments.directory.mkdir(parents=True)
            write(release, arguments.directory)
        finally:
            release.run("down")


def write(release: Release, directory: Path) -> None:
    """Runs the scenario and writes the files of the release."""
    parts = cut(LOGS)
    paths = {log: release.home / "watched" / f"{number}-{log.source}.log" for number, log in enumerate(LOGS)}
    _append(paths, {log: first for log, (first, _) in parts.items()})
    _list(release, paths)
    release.run("up")
    _read(release)
    moment = round(time.time() * 1000)
    positions = release.ends()
    savepoints = {"normalize": release.savepoint(), "detect": release.savepoint("detect")}
    before = release.rows()
    for name, path in savepoints.items():
        _zip(directory / f"{name}.zip", {file.name: file.read_bytes() for file in sorted(path.iterdir())})

    _append(paths, {log: rest for log, (_, rest) in parts.items()})
    release.run("up", *COLLECTORS)
    _read(release)
    after = release.rows()
    new = {table: sorted(set(rows) - set(before[table])) for table, rows in after.items()}
    for name, rows in (("rows-before", before), ("rows-after", new)):
        _zip(directory / f"{name}.zip", {f"{table}.jsonl": _lines(rows[table]) for table in TABLES})
    _write_messages(release, positions, directory / "messages.jsonl.gz")
    facts = {
        "version": _version(release.repository),
        "commit": _commit(release.repository),
        "savepoint_millis": moment,
        "positions": positions,
    }
    (directory / "release.json").write_text(json.dumps(facts, indent=2) + "\n")


def _read(release: Release) -> None:
    """Lets the collectors and both jobs read everything that is written, then stops the collectors."""
    release.run("books", "--wait", "120")
    release.run("down", *COLLECTORS)
    release.await_idle()


def cut(logs: Iterable[Log]) -> dict[Log, tuple[bytes, bytes]]:
    """The two parts of each log.

    The times of samples/ change: those of the first part end now, and those of the second part follow. So no
    log makes events of another one late. Golden files keep their times: their formats are many.
    """
    now = time.time()
    parts = {}
    for log in logs:
        lines = log.file.read_bytes().splitlines(keepends=True)[: log.lines]
        at = _cut(log, lines)
        if log.file.parent == SAMPLES:
            lines = _moved(lines, at, now)
        parts[log] = b"".join(lines[:at]), b"".join(lines[at:])
    return parts


def _cut(log: Log, lines: list[bytes]) -> int:
    at = len(lines) * 3 // 5
    within = (number for number in range(at, len(lines)) if WITHIN_AN_ENTRY.match(lines[number - 1]))
    return log.cut_after or next(within, at)


def _moved(lines: list[bytes], at: int, now: float) -> list[bytes]:
    first, last = time_shift.time_range(lines)
    _, middle = time_shift.time_range(lines[:at])
    before = time_shift.linear_move(first, middle, now, SPAN_SECONDS)
    after = time_shift.linear_move(middle, last, now + REST_SECONDS, REST_SECONDS)
    return [*time_shift.moved(lines[:at], before), *time_shift.moved(lines[at:], after)]


def _append(paths: dict[Log, Path], content: dict[Log, bytes]) -> None:
    for log, path in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(content[log])


def _list(release: Release, paths: dict[Log, Path]) -> None:
    entries = [
        {"instance": log.instance, "source": log.source, "path": str(path.resolve()), "cluster": "release"}
        for log, path in paths.items()
    ]
    release.sources.write_text(json.dumps(entries))  # which is YAML


def _write_messages(release: Release, positions: dict[str, list[int]], file: Path) -> None:
    """The inputs after the savepoint, by topic and partition. A job reads all rules at its start."""
    ends = release.ends()
    messages = []
    for topic in filter(INPUTS.fullmatch, ends):
        for partition, end in enumerate(ends[topic]):
            first = 0 if topic == "tailrace.rules" else positions[topic][partition]
            messages += _messages(release, topic, partition, (first, end))
    with file.open("wb") as out, gzip.GzipFile("", "wb", 9, out, 0) as compressed:
        compressed.write(_lines(json.dumps(message) for message in messages))


def _messages(release: Release, topic: str, partition: int, offsets: tuple[int, int]) -> list[dict]:
    first, end = offsets
    consumer = Consumer({**release.kafka(), "group.id": "state-of-release", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, partition, first)])
    messages: list[dict] = []
    while first + len(messages) < end:
        message = consumer.poll(30)
        if message is None or message.error():
            raise TimeoutError(f"no message of {topic} {partition} after {first + len(messages)}")
        key, value = message.key(), message.value()
        messages.append(
            {
                "topic": topic,
                "partition": partition,
                "offset": message.offset(),
                "key": base64.b64encode(key).decode() if key is not None else None,
                "value": base64.b64encode(value).decode() if value is not None else None,
            }
        )
    consumer.close()
    return messages


def _lines(texts: Iterable[str]) -> bytes:
    return "".join(text + "\n" for text in texts).encode()


def _zip(file: Path, entries: dict[str, bytes]) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name, ZIP_TIME), content, zipfile.ZIP_DEFLATED, 9)
    file.write_bytes(packed.getvalue())


def _version(repository: Path) -> str:
    text = (repository / "embedded/tailrace/__init__.py").read_text()
    return re.search(r'__version__ = "(.+)"', text)[1]


def _commit(repository: Path) -> str:
    words = ["git", "-C", str(repository), "rev-parse", "HEAD"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
