"""The active list, which all components use, and the state of the listed logs on this machine."""

import json
import os
import time
from pathlib import Path

import pytest

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.programs import inotify
from tailrace.sources import active_sources, log_files, sources_file
from tailrace.sources.sources_file import Source
from tailrace_local.commands import up
from tailrace_local.components.census import Census
from tailrace_local.components.facts import Facts
from tailrace_local.components.fluentbit import FluentBit
from tailrace_local.supervisor.list_watch import ListWatch

LOG = "- {instance: %s, source: slowlog, path: slow.log}\n"
CONTRACTS = Path(__file__).resolve().parents[2] / "schemas" / "contracts"
CANONICAL_PATHS = json.loads((CONTRACTS / "canonical_path.json").read_text())
SERVER = "- {instance: db-1, source: server, dsn: 'mysql://tailrace@db-1/', password_file: secret}\n"


@pytest.fixture
def settings(tmp_path) -> Settings:
    return Settings.from_environment({"HOME": "/nowhere", "TAILRACE_HOME": str(tmp_path)})


def log(path: Path) -> Source:
    return Source("db-1", "slowlog", path, "shop")


def test_a_stored_list_is_read_back_unchanged(settings):
    home = Home(settings.home)
    settings.sources.write_text(LOG % "db-1" + SERVER)
    listed = sources_file.read(settings.sources)
    active_sources.activate(home, listed)

    assert active_sources.active(home).listed == listed
    assert active_sources.active_or_listed(settings, home) == listed


def test_without_a_stack_the_list_itself_is_active(settings):
    home = Home(settings.home)
    settings.sources.write_text(LOG % "db-1")

    assert [each.instance for each in active_sources.active_or_listed(settings, home).logs] == ["db-1"]
    assert active_sources.active(home).since == {}
    assert not (settings.home / "run").exists()


def test_stores_since_when_a_log_is_listed(settings):
    home = Home(settings.home)
    for text in (LOG % "db-1", LOG % "db-1" + LOG % "db-2"):
        settings.sources.write_text(text)
        active_sources.activate(home, sources_file.read(settings.sources))
    since = {instance: at for (instance, _, _), at in active_sources.active(home).since.items()}

    assert since["db-1"] < since["db-2"]


def test_census_and_fluent_bit_start_with_the_same_list_despite_edits(settings):
    home = Home(settings.home)
    settings.sources.write_text(LOG % "db-1")
    active_sources.activate(home, sources_file.read(settings.sources))
    Census(settings, home).prepare()
    settings.sources.write_text(LOG % "db-1" + LOG % "db-2")
    FluentBit(settings, home).prepare()  # as after a crash

    counted = {each["instance"] for each in json.loads((home.data("census") / "sources.json").read_text())}
    shipped = {file.name.split("-slowlog-")[0] for file in home.data("fluentbit").rglob("*-slowlog-*.conf")}
    assert counted == shipped == {"db-1"}


@pytest.fixture
def watch(settings) -> ListWatch:
    """A list of one log, activated."""
    settings.sources.write_text(LOG % "db-1")
    watch = ListWatch(settings, Home(settings.home))
    watch.start()
    assert watch.poll(immediately=False) is None
    return watch


def test_consecutive_edits_are_one_change(settings, watch):
    for number in range(5):  # the first half of each is a valid list too
        settings.sources.write_text(LOG % f"half-{number}")
        assert watch.poll(immediately=False) is None
    settings.sources.write_text(LOG % "half-4" + LOG % "whole")
    assert watch.poll(immediately=False) is None

    before = watch.poll(immediately=False)
    assert [each.instance for each in before.logs] == ["db-1"]
    assert [each.instance for each in watch.active.logs] == ["half-4", "whole"]
    assert watch.poll(immediately=False) is watch.poll(immediately=True) is None


def test_a_requested_poll_applies_a_change_immediately(settings, watch):
    settings.sources.write_text(LOG % "db-2")

    assert watch.poll(immediately=True) is not None
    assert [each.instance for each in watch.active.logs] == ["db-2"]


def test_a_list_with_too_many_logs_is_reported_and_retried_on_request(settings, watch, monkeypatch):
    settings.sources.write_text(LOG % "db-1" + LOG % "db-2")
    with monkeypatch.context() as crowded:
        crowded.setattr(inotify, "too_few_inotify_instances", lambda needed: [f"{needed} are too many"])
        assert watch.poll(immediately=True) is None
        assert watch.problem == f"{settings.sources}: 1 are too many"

    assert watch.poll(immediately=True) is not None
    assert watch.problem == ""


def test_a_copy_that_cannot_be_written_is_reported_and_retried(settings, watch):
    draft = settings.home / "run" / ".sources.json.draft"
    draft.mkdir()
    settings.sources.write_text(LOG % "db-2")
    assert watch.poll(immediately=True) is None
    assert "no copy of it can be written" in watch.problem
    draft.rmdir()

    assert watch.poll(immediately=False) is not None
    assert watch.problem == ""


def test_reports_rotated_and_compressed_siblings(tmp_path):
    for name in (
        "slow.log",
        "slow.log.1",
        "slow.log-20260101",
        "slow.log.2.gz",
        "slower.log",
        "slow.log.bak",
    ):
        (tmp_path / name).write_text("x\n")
    state = log_files.inspect(log(tmp_path / "slow.log"))

    assert (state.ok, state.description) == (True, "is watched, 2 B")
    assert [Path(each).name for each in state.rotated] == ["slow.log-20260101", "slow.log.1"]
    assert [Path(each).name for each in state.packed] == ["slow.log.2.gz"]


def test_the_command_that_ships_rotated_files_can_be_copied(tmp_path):
    for name in ("slow.log", "slow.log.1"):
        (tmp_path / name).write_text("x\n")
    state = log_files.inspect(Source("db 1", "slowlog", tmp_path / "slow.log", "shop"))
    (said,) = up.files_beside(state, time.time())

    assert said.endswith("`tailrace backfill --instance 'db 1'`")


@pytest.mark.parametrize(("path", "canonical"), [tuple(case.values()) for case in CANONICAL_PATHS])
def test_canonical_path(path, canonical):
    assert log_files.canonical_path(path) == canonical


def test_reports_an_unreadable_log(tmp_path):
    (tmp_path / "loop.log").symlink_to("loop.log")
    (tmp_path / "slow.log").write_text("x\n")
    (tmp_path / "slow.log.1").symlink_to("slow.log.1")
    (tmp_path / "directory.log").mkdir()

    assert log_files.inspect(log(tmp_path / "loop.log")).description.startswith("cannot be read: ")
    assert log_files.inspect(log(tmp_path / "directory.log")).description == "is not a regular file"
    rotated = log_files.inspect(log(tmp_path / "slow.log"))
    assert not rotated.ok
    assert f"is watched, but {tmp_path}/slow.log.1 cannot be read" in rotated.description


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_reports_the_user_without_permission(tmp_path):
    path = tmp_path / "slow.log"
    path.write_text("x\n")
    path.chmod(0o600)
    os.seteuid(65534)
    try:
        state = log_files.inspect(log(path))
    finally:
        os.seteuid(0)

    assert "which has no permission" in state.description


def test_the_state_of_a_pattern_is_that_of_its_files(tmp_path):
    assert log_files.inspect(log(tmp_path / "*.log")).description.startswith("matches no file yet")
    (tmp_path / "a.log").write_text("x\n")
    assert log_files.inspect(log(tmp_path / "*.log")).ok


@pytest.mark.parametrize(
    ("entry", "is_configured"),
    [
        ("source: performance_schema, kind: otlp, url: 'kafka://k:1/logs', match: a=b", True),
        ("source: slowlog, kind: rds, region: eu-central-1", True),
        ("source: slowlog, path: /var/log/mysql/slow.log", False),
    ],
)
def test_pulled_logs_need_the_component_that_stores_their_records_and_costs(settings, entry, is_configured):
    settings.sources.write_text(f"- {{instance: db-1, {entry}}}\n")
    assert Facts(settings, Home(settings.home)).configured() == is_configured
