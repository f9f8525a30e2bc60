"""The slow log of a real server as its file, through the log files of RDS, CloudWatch Logs, an export task to
S3 and mysql.slow_log: each gives the same events with the same query ids."""

import gzip
import itertools
import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import yaml

from e2e.pulling import json_protocol, query_protocol
from e2e.pulling.fake_cloudwatch import FakeCloudWatch
from e2e.pulling.fake_objects import FakeObjects
from e2e.pulling.fake_objects import serve as serve_objects
from e2e.pulling.fake_rds import FakeRds
from e2e.pulling.log_tables import PULLER, TablePuller, TableServer
from e2e.pulling.service_http import serving
from tailrace.config.resources import REPOSITORY

LIVE = "slowquery/mysql-slowquery.log"
STREAM = "prod-1"
KINDS = ("rds", "cloudwatch", "objects")
POSITION = ("event_id", "log", "generation", "entry_offset", "entry_bytes")
"""Where an entry is, which differs by way."""
ROW = (
    *("query_id", "user", "host", "query_time", "lock_time", "rows_sent", "rows_examined"),
    "connection_id",
)
"""What a row of mysql.slow_log and an entry of the file contain in the same precision."""
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "unused"}


def check_ways(server: TableServer, directory: Path) -> None:
    """Each way gives the events of the file; the table, those fields that its rows contain. Two ways for one
    log are refused, because both would store each event."""
    chosen = Random(11)
    with server.logging():
        table = TablePuller(server.reader())
        for _ in range(3):
            server.work(chosen, 12)
            server.run("SELECT SLEEP(1.1)")  # MariaDB writes a time if the second differs from that before
        table.visit_until_read()
        text = server.file_since("slow.log")
    found = _events([_written(directory / "file" / "slow.log", text)])
    expected = [_content(event) for event in _of_others(found)]
    assert len(expected) > 36, "too few events"
    with ExitStack() as services:
        sources = [
            {"instance": STREAM, "cluster": "hour", "source": "slowlog", "kind": kind, **settings}
            for kind, settings in zip(KINDS, _serve(services, _entries(text, found)), strict=True)
        ]
        refused = _pull(directory / "both", sources)
        assert refused.returncode != 0
        assert "one log read in two ways would count each event twice" in refused.stderr
        for kind, source in zip(KINDS, sources, strict=True):
            events = _of_others(_events(_pulled(directory / kind, source)))
            assert [_content(event) for event in events] == expected, kind
    of_table = _of_others(_events([_written(directory / "table" / "slow.log", table.text())]))
    assert sorted(map(_row, of_table)) == sorted(map(_row, _of_others(found)))


def _serve(services: ExitStack, entries: list[bytes]) -> Iterator[dict[str, str]]:
    """Yields the settings of an entry of sources.yaml for RDS, CloudWatch Logs and S3."""
    rds = FakeRds(seed=5, portion_bytes=5_000, portion_lines=40)
    half = next(n for n in range(len(entries) // 3, len(entries)) if entries[n].startswith(b"# Time:"))
    rds.write(LIVE, b"".join(entries[:half]))
    rds.rename(LIVE, f"{LIVE}.2026-11-26.10")
    rds.write(LIVE, b"".join(entries[half:]))
    named = {"region": "eu-central-1", "db_instance": STREAM}
    yield {**named, "endpoint": services.enter_context(serving(query_protocol.serve("rds", rds.handle)))}

    watched = FakeCloudWatch(seed=6, page_events=7)
    began = int(time.time() - 3600) * 1000
    times = [began + 3 * number for number in range(len(entries))]
    for at, entry in zip(times, entries, strict=True):
        watched.put(STREAM, at, entry.decode().removesuffix("\n"), at + 900)
    yield {
        **named,
        "endpoint": services.enter_context(serving(json_protocol.serve("logs", watched.handle))),
    }

    stored = FakeObjects("s3")
    for number in range(0, len(entries), 25):
        lines = [
            f"{datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec='milliseconds')[:23]}Z ".encode()
            + entry
            for at, entry in zip(times[number : number + 25], entries[number : number + 25], strict=True)
        ]
        stored.put(f"mysql/task/{STREAM}/{number // 25:06}.gz", gzip.compress(b"".join(lines), mtime=0))
    address = services.enter_context(serving(serve_objects(stored)))
    yield {**named, "url": "s3://logs/mysql", "endpoint": address, "since": "2026-01-01T00:00:00Z"}


def _pulled(directory: Path, source: Mapping[str, str]) -> list[Path]:
    """Returns the files that `tailrace pull --once` writes, rotated ones first."""
    done = _pull(directory, [source])
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(map(Path, done.stdout.splitlines()), key=lambda file: (file.name == Path(LIVE).name, file))


def _pull(directory: Path, sources: list[Mapping[str, str]]) -> subprocess.CompletedProcess[str]:
    listed = _written(directory / "sources.yaml", yaml.safe_dump(sources).encode())
    return _tailrace(
        "pull", "--once", STREAM, "-o", directory / "logs", TAILRACE_SOURCES=str(listed), **CREDENTIALS
    )


def _events(files: list[Path]) -> list[dict]:
    done = _tailrace("parse", "--json", *files)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def _tailrace(*words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [REPOSITORY / "bin" / "tailrace", *words],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )


def _entries(text: bytes, events: list[dict]) -> list[bytes]:
    """Splits the text of the log before each entry, as the agents of the clouds do."""
    begins = [*(event["entry_offset"] for event in events), len(text)]
    begins[0] = 0
    return [text[begin:end] for begin, end in itertools.pairwise(begins)]


def _of_others(events: list[dict]) -> list[dict]:
    """Leaves out what the account of the puller asked, which the table's puller does not ship."""
    return [event for event in events if event["user"] != PULLER]


def _content(event: Mapping) -> dict:
    return {name: value for name, value in event.items() if name not in POSITION}


def _row(event: Mapping) -> tuple:
    return tuple(event[name] for name in ROW)


def _written(file: Path, content: bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file
