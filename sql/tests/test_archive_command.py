"""The command `tailrace archive` on a real ClickHouse: what it refuses to do beside other runs."""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from archive_rows import DAY, NEXT_DAY, insert_query_events

from tailrace.archive import lock, service
from tailrace.archive.location import Location, opened
from tailrace.archive.tables import BY_NAME
from tailrace.cli.commands import archive
from tailrace.clickhouse.client import ClickHouse
from tailrace.errors import UsageError
from tailrace.migrations import lock as schema_lock
from tailrace.migrations import runner as migration_runner

ROWS = 60
WHEN = ("--from", str(DAY), "--to", str(DAY))


@dataclass
class Stack:
    """The context of a command, with the test's server."""

    user: Callable[[str], ClickHouse]
    home: SimpleNamespace
    settings: SimpleNamespace

    def clickhouse(self, name: str) -> ClickHouse:
        return self.user(name)


@pytest.fixture
def at(admin: ClickHouse, tmp_path: Path) -> Iterator[Location]:
    """An archive with one day of query_events."""
    insert_query_events(admin, ROWS)
    found = opened(str(tmp_path / "archive"))
    task = service.Task(admin, found, tmp_path, lambda _: None)
    assert all(good for _, good in task.run(NEXT_DAY + timedelta(days=1), [BY_NAME["query_events"]]))
    yield found
    for table in ("legal_hold_actions", "archived_days"):
        admin.execute(f"TRUNCATE TABLE tailrace.{table} SYNC")


@pytest.fixture
def run(at, user, tmp_path, capsys) -> Callable[..., object]:
    """Runs the command; returns what it prints as JSON."""

    def with_words(*words: str, home: Path = tmp_path) -> object:
        parser = argparse.ArgumentParser()
        archive.configure(parser)
        settings = SimpleNamespace(archive=at.root, archive_endpoint="", archive_region="")
        settings.archive_secret_file = Path()
        stack = Stack(user, SimpleNamespace(root=home), settings)
        archive.run(parser.parse_args([*words, "--output", "json"]), stack)
        return json.loads(capsys.readouterr().out)

    return with_words


def test_no_restore_runs_beside_another_one_or_beside_a_run_of_ttls(run, admin, server, tmp_path):
    server.empty_tables()
    other = tmp_path / "other"
    with lock.held_with_ttls(tmp_path, admin):
        with pytest.raises(lock.BusyError):
            run("restore", *WHEN)
        with pytest.raises(schema_lock.LockedError):
            run("restore", *WHEN, home=other)
        with pytest.raises(schema_lock.LockedError):
            migration_runner.apply_retention(admin)
    assert admin.rows("SELECT count() AS n FROM tailrace.query_events") == [{"n": 0}]
    (restored,) = run("restore", *WHEN)
    assert (restored["inserted"], restored["present"]) == (ROWS, 0)
    (restored,) = run("restore", *WHEN, home=other)
    assert (restored["inserted"], restored["present"]) == (0, ROWS)


def test_a_restore_ends_when_it_has_lost_its_lock(run, admin, server, monkeypatch):
    """As after a restart of ClickHouse between two inserts."""
    server.empty_tables()
    schema = schema_lock.Lock

    def lost(held: schema_lock.Lock) -> None:
        held.release()
        require(held)

    require = schema.require
    monkeypatch.setattr(schema, "require", lost)
    with pytest.raises(schema_lock.LockLostError):
        run("restore", *WHEN)
    assert admin.rows("SELECT count() AS n FROM tailrace.query_events") == [{"n": 0}]


def test_days_are_deleted_only_with_yes_and_a_reason(run, monkeypatch):
    (kept,) = run("delete", "--before", str(NEXT_DAY))
    assert (kept["is_deletable"], kept["is_deleted"]) == (False, False)
    assert kept["kept_because"].startswith("ClickHouse keeps its rows until ")
    for words in (["--before", str(DAY), "--yes"], ["--from", str(DAY)], []):
        with pytest.raises(UsageError, match=r"expected either --before|--yes needs --reason"):
            run("delete", *words)

    monkeypatch.setattr(migration_runner, "load_retention", lambda: {"query_events": 1})
    words = ("delete", *WHEN, "--framework", "gdpr")
    (listed,) = run(*words)
    assert (listed["is_deletable"], listed["is_deleted"], listed["rows"]) == (True, False, ROWS)
    (deleted,) = run(*words, "--yes", "--reason", "retention is over", "--actor", "ines")
    assert (deleted["is_deleted"], run(*words)) == (True, [])
    (listed,) = run("list")
    assert (listed["state"], listed["rows"], listed["files"]) == ("deleted", ROWS, 0)
    assert "were deleted by ines" in run("verify")["findings"][0]["message"]
    assert run("restore", *WHEN) == []


def test_no_verification_runs_beside_a_run_that_writes(run, tmp_path):
    with lock.held(tmp_path), pytest.raises(lock.BusyError):
        run("verify")
    assert run("verify")["verdict"] == "proven"
