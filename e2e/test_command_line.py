"""The command line reads the same files without a server; its output is compared with the same manifest."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.limits import LIMIT_SECONDS
from e2e.workload.manifest import LogManifest
from e2e.workload.writer import LogWriter, Workload
from tailrace.config.resources import REPOSITORY


@pytest.fixture(scope="module")
def workload(tmp_path_factory) -> Workload:
    written = Workload(tmp_path_factory.mktemp("logs"), seed=11, name="cli")
    written.write(5000)
    written.finish()
    return written


def parse(log: LogWriter, path: Path | None = None) -> list[dict]:
    """Returns the events of `tailrace parse` on a log, or on a copy of it."""
    options = ["--json", "--instance", log.instance, "--tz", log.shape.tz]
    done = subprocess.run(
        [REPOSITORY / "bin" / "tailrace", "parse", *options, path or log.path],
        env={name: text for name, text in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        check=True,
        timeout=2 * LIMIT_SECONDS,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def parsed(workload: Workload) -> Callable[[LogWriter], list[dict]]:
    """Parses each log once: the command takes two CPU-seconds for each."""
    known: dict[Path, list[dict]] = {}

    def events(log: LogWriter) -> list[dict]:
        if log.path not in known:
            known[log.path] = parse(log)
        return known[log.path]

    return events


@pytest.mark.parametrize(
    "index", range(5), ids=["mysql", "percona", "mariadb", "mariadb-audit", "percona-audit"]
)
def test_parse_equals_the_manifest(workload, parsed, index):
    log = workload.logs[index]
    events, manifest = parsed(log), log.manifest
    assert len(events) == manifest.entries
    assert sum(event["entry_bytes"] for event in events) == manifest.bytes - manifest.framing_bytes
    assert len({event["event_id"] for event in events}) == manifest.entries
    if manifest.source == "slowlog":
        _assert_measures(events, manifest)
    else:
        assert Counter(event["command"] for event in events) == manifest.classes


def _assert_measures(events: list[dict], manifest: LogManifest) -> None:
    minutes = manifest.minutes.values()
    assert sum(round(event["query_time"] * 1e6) for event in events) == sum(m.query_time_us for m in minutes)
    assert sum(event["rows_examined"] for event in events) == sum(m.rows_examined for m in minutes)
    assert sum(event["rows_sent"] for event in events) == sum(m.rows_sent for m in minutes)
    assert sum(event["weight"] for event in events) == sum(m.weight for m in minutes)


def test_event_ids_do_not_depend_on_the_path(workload, parsed, tmp_path: Path):
    log = workload.logs[0]
    copy = tmp_path / "renamed.1"
    copy.write_bytes(log.path.read_bytes())
    assert [event["event_id"] for event in parse(log, copy)] == [event["event_id"] for event in parsed(log)]
