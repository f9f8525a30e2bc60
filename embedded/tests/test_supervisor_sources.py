"""Changes of sources.yaml while a supervisor with real processes runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.limits import LIMIT_SECONDS
from running_stack import FAKE_STACK, RunningStack, is_running, wait_until
from tailrace.sources import active_sources
from tailrace_local.supervisor import control

LOG = "- {instance: %s, source: slowlog, path: slow.log}\n"
SERVER = "- {instance: db-1, source: server, dsn: 'mysql://tailrace@db-1/'}\n"


@pytest.fixture
def listed(tmp_path) -> Path:
    """The list of sources, with a log of db-1."""
    file = tmp_path / "home" / "sources.yaml"
    file.parent.mkdir()
    file.write_text(LOG % "db-1")
    return file


def instances_in_force(stack: RunningStack) -> list[str]:
    return [log.instance for log in active_sources.active(stack.home).listed.logs]


def starts(stack: RunningStack) -> int:
    """Returns the number of processes that were started for all components."""
    return (stack.home.root / "order").read_text().count("start")


def test_a_changed_list_restarts_only_its_readers_automatically(start, listed):
    stack = start("reading-a", "steady-b", "reading-c", poll=1)
    before = {name: stack.await_healthy(name).pid for name in ("reading-a", "steady-b", "reading-c")}
    listed.write_text(LOG % "db-1" + LOG % "db-2")

    for name in ("reading-a", "reading-c"):
        stack.await_status(name, lambda s, name=name: s.is_healthy and s.pid != before[name])
    assert stack.status("steady-b").pid == before["steady-b"]
    assert instances_in_force(stack) == ["db-1", "db-2"]
    order = [line.split() for line in (stack.home.root / "order").read_text().splitlines()]
    ends = [int(pid) for what, pid in order if what == "end"]
    assert ends == [before["reading-a"], before["reading-c"]]


def test_an_equal_list_restarts_nothing(start, listed):
    stack = start("reading-a")
    pid = stack.await_healthy("reading-a").pid
    listed.write_text("# mine\n" + LOG % "db-1")

    assert control.take_list(stack.home) == ([], "")
    assert (stack.status("reading-a").pid, starts(stack)) == (pid, 1)


def test_an_invalid_list_leaves_the_previous_one_active_and_is_reported(start, listed):
    stack = start("reading-a", poll=1)
    pid = stack.await_healthy("reading-a").pid
    listed.write_text(LOG % "db-2" + "- {instance: db-3}\n")
    wait_until(lambda: control.status(stack.home).sources_error != "", "the mistake to be reported")

    assert "log 2: `source` is missing" in control.status(stack.home).sources_error
    assert "log 2: `source` is missing" in stack.home.log("supervisor").read_text()
    restarted, problem = control.take_list(stack.home)
    assert (restarted, "log 2: `source` is missing" in problem) == ([], True)
    assert (stack.status("reading-a").pid, instances_in_force(stack)) == (pid, ["db-1"])
    listed.write_text(LOG % "db-2")
    stack.await_status("reading-a", lambda s: s.is_healthy and s.pid != pid)
    assert control.status(stack.home).sources_error == ""


def test_a_deleted_list_leaves_the_previous_one_active(start, listed):
    stack = start("reading-a", poll=1)
    pid = stack.await_healthy("reading-a").pid
    listed.unlink()
    wait_until(
        lambda: "cannot be read" in control.status(stack.home).sources_error,
        "the missing list to be reported",
    )

    assert (stack.status("reading-a").pid, instances_in_force(stack)) == (pid, ["db-1"])


def test_a_manually_stopped_component_stays_stopped_and_starts_with_the_new_list(start, listed):
    stack = start("reading-a", "reading-b")
    stack.await_healthy("reading-a")
    control.stop_component(stack.home, "reading-a")
    listed.write_text(LOG % "db-2")

    assert control.take_list(stack.home) == (["reading-b"], "")
    assert stack.status("reading-a").state == "stopped"


def test_a_manual_restart_applies_the_list(start, listed):
    stack = start("reading-a", "reading-b")
    before = {name: stack.await_healthy(name).pid for name in ("reading-a", "reading-b")}
    listed.write_text(LOG % "db-2")
    control.restart(stack.home, "reading-b")

    assert instances_in_force(stack) == ["db-2"]
    for name, pid in before.items():
        stack.await_status(name, lambda s, pid=pid: s.is_healthy and s.pid != pid)
    assert starts(stack) == 4


def test_components_start_and_stop_with_their_entries(start, listed):
    stack = start("steady-a", "asking-b")
    pid = stack.await_healthy("steady-a").pid
    assert control.status(stack.home).component("asking-b") is None
    listed.write_text(LOG % "db-1" + SERVER)
    assert control.take_list(stack.home) == (["asking-b"], "")
    asking = stack.await_healthy("asking-b").pid
    listed.write_text(LOG % "db-1")
    control.take_list(stack.home)

    assert control.status(stack.home).component("asking-b") is None
    assert not is_running(asking)
    assert stack.status("steady-a").pid == pid


def test_an_invalid_list_at_the_start_leaves_the_previous_one_active(start, listed):
    stack = start("reading-a")
    stack.await_healthy("reading-a")
    stack.process.kill()
    stack.ended()
    listed.write_text("- {")

    again = start("reading-a")
    again.await_healthy("reading-a")
    assert instances_in_force(again) == ["db-1"]
    assert "cannot be read" in control.status(again.home).sources_error


def tailrace(stack: RunningStack, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs bin/tailrace's program for the stack."""
    return subprocess.run(
        [sys.executable, "-m", "tailrace_local", *words],
        env={
            "HOME": "/nowhere",
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(FAKE_STACK.parents[1]),
            "TAILRACE_HOME": str(stack.home.root),
        },
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
    )


def test_up_applies_the_list_of_a_running_stack_and_shows_its_logs(start, listed):
    (listed.parent / "slow.log").write_text("one\n")
    (listed.parent / "slow.log.1").write_text("one\n")
    stack = start("reading-a")
    stack.await_healthy("reading-a")
    listed.write_text(LOG % "db-1" + LOG % "db-2" + "- {instance: db-2, source: audit, path: audit.log}\n")
    done = tailrace(stack, "up")

    assert done.returncode == 0
    assert "reading-a   restarted: sources.yaml has changed" in done.stdout
    assert f"db-2  slowlog  {listed.parent}/slow.log  is watched, 4 B" in done.stdout
    assert "1 rotated file next to it" in done.stdout
    assert f"db-2  audit  {listed.parent}/audit.log  does not exist yet" in done.stdout


def test_up_refuses_a_mistake_in_the_list_and_status_and_doctor_report_it(start, listed):
    stack = start("reading-a")
    pid = stack.await_healthy("reading-a").pid
    listed.write_text("- {instance: db-3}\n")
    refused = tailrace(stack, "up")

    assert refused.returncode == 2
    assert "log 1: `source` is missing" in refused.stderr
    assert "The running stack keeps the previous list." in refused.stderr
    for command, code in (("status", 0), ("doctor", 1)):
        done = tailrace(stack, command)
        assert done.returncode == code
        assert "the previous list stays active: " in done.stdout
        assert f"db-1 slowlog {listed.parent}/slow.log does not exist yet" in done.stdout
    assert stack.status("reading-a").pid == pid


def test_reports_the_state_of_the_listed_logs(start, listed):
    (listed.parent / "slow.log").write_text("one\n")
    listed.write_text(LOG % "db-1" + "- {instance: db-1, source: audit, path: none/audit.log}\n")
    stack = start("reading-a")
    stack.await_healthy("reading-a")

    assert [(log.source, log.ok, log.description) for log in control.logs(stack.home)] == [
        ("slowlog", True, "is watched, 4 B"),
        ("audit", False, "does not exist yet; it is read from its first byte once it does"),
    ]
