"""What a stack with many servers costs: processor time, state, rows, topics, commands and pages."""

import json
import os
import re
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from dashboards.tests.pages import Visitor
from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack, wait_until
from tailrace.config.resources import REPOSITORY
from tailrace.dashboards import connections as superset_connections
from tailrace_local.supervisor import control

JOBS = ("flink", "detect")
MB = 1_000_000
ANSWERING = ("clickhouse", "superset", "metrics")
USER = "security"
HEAP = re.compile(r"used (\d+)K")


@dataclass
class Spent:
    """CPU-seconds by component, elapsed seconds, and a number of records or rows."""

    what: str
    cpu: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    records: int = 0


@contextmanager
def spending(stack: Stack, what: str) -> Iterator[Spent]:
    """Measures the block. A component must not restart within it."""
    spent, before, started = Spent(what), _cpu(stack), time.monotonic()
    yield spent
    spent.seconds = time.monotonic() - started
    spent.cpu = {name: seconds - before[name] for name, seconds in _cpu(stack).items()}


def _cpu(stack: Stack) -> dict[str, float]:
    return {part.name: part.cpu_seconds for part in control.status(stack.home).components}


@dataclass(frozen=True)
class JobState:
    """State of a job: bytes of the last checkpoint, its duration in ms, and the live heap in bytes."""

    checkpoint: int
    millis: int
    heap: int


def job_state(stack: Stack, name: str) -> JobState:
    """Returns the state at a checkpoint that starts after the call."""
    address, since = stack.status(name).address, time.time() * 1000
    found: dict = {}

    def has_checkpoint() -> bool:
        job = next(each["id"] for each in _json(f"{address}/jobs")["jobs"] if each["status"] == "RUNNING")
        latest = _json(f"{address}/jobs/{job}/checkpoints")["latest"]["completed"] or {}
        found.update(latest)
        return latest.get("trigger_timestamp", 0) > since

    wait_until(has_checkpoint, f"a checkpoint of {name}")
    return JobState(found["checkpointed_size"], found["end_to_end_duration"], _live_heap(stack, name))


def _live_heap(stack: Stack, name: str) -> int:
    """Returns the bytes of the heap after a full collection, in all JVMs of the component."""
    total = 0
    for process in stack.processes(name):
        if os.path.basename(os.readlink(f"/proc/{process}/exe")) != "java":
            continue
        subprocess.run(["jcmd", str(process), "GC.run"], check=True, capture_output=True)
        heap = ["jcmd", str(process), "GC.heap_info"]
        shown = subprocess.run(heap, check=True, capture_output=True, text=True).stdout
        total += sum(int(used) * 1024 for used in HEAP.findall(shown.split("Metaspace", maxsplit=1)[0]))
    return total


def rows_by_table(stack: Stack, least: int = 1) -> dict[str, tuple[int, int]]:
    """Returns rows and bytes on disk by table."""
    rows = stack.clickhouse().rows(
        "SELECT table, toUInt32(sum(rows)) AS n, toInt64(sum(bytes_on_disk)) AS size FROM system.parts"
        " WHERE active AND database = 'tailrace' GROUP BY table HAVING n >= {least:UInt32} ORDER BY n DESC",
        {"least": least},
    )
    return {row["table"]: (row["n"], int(row["size"])) for row in rows}


def partitions(stack: Stack) -> tuple[int, int]:
    """Returns the numbers of topics and partitions."""
    admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{stack.settings.port_kafka}"})
    topics = admin.list_topics(timeout=LIMIT_SECONDS).topics
    return len(topics), sum(len(topic.partitions) for topic in topics.values())


def unread(stack: Stack, group: str, topics: Sequence[str]) -> int:
    """Returns the records that a consumer group has not read at its last checkpoint."""
    consumer = Consumer({"bootstrap.servers": f"127.0.0.1:{stack.settings.port_kafka}", "group.id": group})
    try:
        known = consumer.list_topics(timeout=LIMIT_SECONDS).topics
        places = [TopicPartition(topic, number) for topic in topics for number in known[topic].partitions]
        left = 0
        for place in consumer.committed(places, timeout=LIMIT_SECONDS):
            first, end = consumer.get_watermark_offsets(place, timeout=LIMIT_SECONDS)
            left += end - max(first, place.offset)
        return left
    finally:
        consumer.close()


@dataclass(frozen=True)
class Answer:
    """One command or page: elapsed and CPU-seconds, and bytes of its output."""

    what: str
    seconds: float
    own_cpu: float
    server_cpu: float
    size: int
    queries: int


def commands(stack: Stack) -> Iterator[Answer]:
    for words in (["ledger"], ["ledger", "--minutes", "60"], ["status"], ["doctor"], ["health"]):
        yield _answer(stack, f"tailrace {' '.join(words)}", lambda words=words: _run(stack, words))


def _run(stack: Stack, words: list[str]) -> bytes:
    """Returns the output. Exit code 1 is a finding of the command, such as a log that is no longer read."""
    environment = {**os.environ, **stack.settings.environment()}
    command = [str(REPOSITORY / "bin" / "tailrace"), *words]
    done = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=LIMIT_SECONDS)
    assert done.returncode in (0, 1), f"{words}: {done.stderr.decode()[-500:]}"
    return done.stdout + done.stderr


def pages(stack: Stack, instance: str) -> Iterator[Answer]:
    """Opens work pages, and dashboards as Superset's browser asks for them, as a user of security."""
    address = f"http://127.0.0.1:{stack.settings.port_superset}"
    password = stack.home.secret(superset_connections.password_of(USER))
    person = Visitor(address, USER, password)
    for path, arguments in (
        ("/tailrace/setup/", {}),
        ("/tailrace/setup/", {"instance": instance}),
        ("/tailrace/queries/", {"range": "24h"}),
        ("/tailrace/queries/", {"range": "24h", "instance": instance}),
        ("/tailrace/evidence/", {"range": "24h"}),
        ("/tailrace/search/", {"q": f"instance:{instance}", "range": "24h"}),
        ("/tailrace/alerts/", {"range": "24h"}),
        ("/api/v1/dashboard/slow-queries", {}),
        ("/api/v1/dashboard/books", {}),
    ):
        shown = "&".join(f"{name}={value}" for name, value in arguments.items())
        what = f"{path}{'?' if shown else ''}{shown}"
        yield _answer(stack, what, lambda path=path, arguments=arguments: _open(person, path, arguments))


def _open(person: Visitor, path: str, arguments: dict[str, str]) -> bytes:
    answer = person.get(path, **arguments)
    assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text[:500]}"
    return answer.content


def metrics(stack: Stack) -> Answer:
    address = f"http://127.0.0.1:{stack.settings.port_metrics}/metrics"
    return _answer(stack, "/metrics", lambda: _bytes(address))


def _answer(stack: Stack, what: str, ask: Callable[[], bytes]) -> Answer:
    before, queries, started, own = _cpu(stack), _queries(stack), time.monotonic(), os.times()
    content = ask()
    seconds, after, ended = time.monotonic() - started, _cpu(stack), os.times()
    spent = sum(after[name] - before[name] for name in ANSWERING if name in after)
    children = ended.children_user - own.children_user + ended.children_system - own.children_system
    return Answer(what, seconds, children, spent, len(content), _queries(stack) - queries - 1)


def _queries(stack: Stack) -> int:
    (row,) = stack.clickhouse().rows("SELECT toInt64(value) AS n FROM system.events WHERE event = 'Query'")
    return int(row["n"])


def _bytes(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=LIMIT_SECONDS) as answer:
        return answer.read()


def _json(address: str) -> dict:
    return json.loads(_bytes(address))
