"""From one version to the next and back (docs/UPGRADING.md): nothing is lost, nothing stored twice.

The next version is a modified copy of this one: an event has an additional field, and a migration adds its
column.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from e2e.stack import PARTS, PORTS, Stack, wait_until
from e2e.wait_for_idle import assert_exact
from e2e.workload.writer import Workload
from tailrace import __version__
from tailrace.config.resources import REPOSITORY
from tailrace_local import health

FIRST_PORT = int(os.environ.get("UPGRADE_FIRST_PORT", "24740"))
FOLDERS = ("bin", "embedded", "sql", "collectors", "schemas", "stream-jobs", "samples", "rules")
RATE = 100
NEXT = "0.3.0"
OF_OLD_ROWS, OF_NEW_ROWS = 7, 0
"""The field's default in rows and events of the old version, and the value of the new version."""
FIELD = {"name": "upgraded", "type": "long", "default": OF_OLD_ROWS, "doc": "Which version wrote the event."}
MIGRATION = f"""-- Which version wrote the event.
ALTER TABLE tailrace.query_events {{on_cluster}} ADD COLUMN IF NOT EXISTS upgraded Int64 DEFAULT {OF_OLD_ROWS}
"""

pytestmark = [pytest.mark.long, pytest.mark.timeout(2400)]


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    detect = {"port_detect": str(FIRST_PORT + len(PORTS))}
    running = Stack(tmp_path / "home", FIRST_PORT, (*PARTS, "detect"), **detect)
    yield running
    running.down()


@pytest.fixture
def next_version(tmp_path: Path) -> Path:
    """A copy of this repository that is one release later, created as schemas/history/README.md describes."""
    repository = tmp_path / "next"
    for folder in FOLDERS:
        ignored = shutil.ignore_patterns("target", "node_modules", "__pycache__")
        shutil.copytree(REPOSITORY / folder, repository / folder, symlinks=True, ignore=ignored)
    history = repository / "schemas/history"
    released = len(list(history.glob("v*")))  # readers count from v1 until one is missing
    shutil.copytree(repository / "schemas/avro", history / f"v{released + 1}")
    schema = repository / "schemas/avro/QueryEvent.avsc"
    fields = json.loads(schema.read_text())
    fields["fields"].append(FIELD)
    schema.write_text(json.dumps(fields))
    (repository / "sql/migrations/9000_query_events_upgraded.sql").write_text(MIGRATION)
    version = repository / "embedded/tailrace/__init__.py"
    version.write_text(version.read_text().replace(__version__, NEXT))
    return repository


def test_upgrade_and_rollback(stack: Stack, next_version: Path, tmp_path: Path):
    workload = Workload(tmp_path / "logs", 1, "upgraded")
    run(REPOSITORY, stack, "up")
    stack.watch(workload.logs)
    with workload.writing(RATE):
        written(workload, 500)
        run(REPOSITORY, stack, "savepoint")
        run(REPOSITORY, stack, "down")
        run(REPOSITORY, stack, "backup", str(tmp_path / "before"))

        run(next_version, stack, "up")
        written(workload, 500)
    assert_exact(stack, workload.manifests, 240)
    assert rows_by_version(stack).keys() == {OF_OLD_ROWS, OF_NEW_ROWS}
    assert undecodable_events(stack) == 0
    refused = run(REPOSITORY, stack, "migrate", expected=1)
    assert f"9000_query_events_upgraded: applied by version {NEXT}, but its file is missing" in refused

    run(next_version, stack, "down")
    with workload.writing(RATE):
        written(workload, 200)
        run(REPOSITORY, stack, "restore", str(tmp_path / "before"))
        run(REPOSITORY, stack, "up")
        written(workload, 200)
    assert_exact(stack, workload.manifests, 240)
    assert "9000" not in run(REPOSITORY, stack, "migrate", "--status")


def run(repository: Path, stack: Stack, *words: str, expected: int = 0) -> str:
    """Runs a version's `bin/tailrace` on the stack's home directory; returns what it said."""
    done = subprocess.run(
        [repository / "bin" / "tailrace", *words],
        env={**os.environ, **stack.settings.environment()},
        capture_output=True,
        check=False,
        text=True,
        timeout=1200,
    )
    assert done.returncode == expected, f"{' '.join(words)}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def written(workload: Workload, entries: int) -> None:
    until = workload.entries + entries
    wait_until(lambda: workload.entries >= until, f"{entries} entries to be written")


def rows_by_version(stack: Stack) -> dict[int, int]:
    rows = stack.clickhouse().rows(
        "SELECT upgraded, count() AS n FROM tailrace.query_events GROUP BY upgraded"
    )
    return {row["upgraded"]: row["n"] for row in rows}


def undecodable_events(stack: Stack) -> float:
    """Returns the events that the detect job could not read, by its own counter."""
    found = text_string_to_metric_families(health.component_metrics(stack.settings, stack.home, "detect"))
    samples = [
        each for family in found if re.search("undecodable_events$", family.name) for each in family.samples
    ]
    assert samples
    return sum(sample.value for sample in samples)
