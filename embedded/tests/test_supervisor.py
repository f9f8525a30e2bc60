"""The supervisor with real processes: tiny shell scripts that crash, hang, fork and print."""

import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fake_stack import FakeComponent
from running_stack import is_running, wait_until
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.errors import NotRunningError
from tailrace.unix_socket import short_path
from tailrace_local.context import LocalContext
from tailrace_local.supervisor import control, procfs
from tailrace_local.supervisor.process_manager import RestartBackoff
from tailrace_local.supervisor.supervisor import in_order


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Gives a component a separate disk with 200 MiB."""
    mounted: list[Path] = []

    def mount(component: str) -> Path:
        directory = Home(tmp_path / "home").data(component)
        command = ["mount", "-t", "tmpfs", "-o", "size=200m,mode=0700", "tailrace", directory]
        done = subprocess.run(command, capture_output=True)
        if done.returncode:
            pytest.skip(f"no small disk can be mounted: {done.stderr.decode().strip()}")
        mounted.append(directory)
        return directory

    yield mount
    for directory in mounted:
        subprocess.run(["umount", "--lazy", directory], check=True)


def descendants(pid: int) -> set[int]:
    below = {child.pid for child in procfs.children(pid)}
    return below.union(*(descendants(child) for child in below)) if below else below


def test_starts_a_component_and_shows_its_status(start):
    status = start("steady-a").await_healthy("steady-a")

    assert is_running(status.pid)
    assert (status.version, status.restarts, status.reason) == ("1.0", 0, "")
    assert status.rss_bytes > 100_000


def test_a_component_that_does_not_answer_is_asked_for_its_version_again(start):
    stack = start("steadylate-a")

    stack.await_status("steadylate-a", lambda status: status.is_healthy and status.version == "1.0")
    assert (stack.home.data("steadylate-a") / "asked-for-version").exists()


def test_provisions_a_component_before_its_dependents_start(start):
    stack = start("steady-second:steady-first", "steady-first")
    stack.await_healthy("steady-second")

    first, second = (stack.home.data(f"steady-{name}") for name in ("first", "second"))
    assert (first / "provisioned").stat().st_mtime_ns < (second / "up").stat().st_mtime_ns


def test_provisions_a_healthy_component_again_at_its_interval(start):
    stack = start("steadyagain-a", "steady-b")
    for name in ("steadyagain-a", "steady-b"):
        stack.await_healthy(name)
    files = [stack.home.data(name) / "provisioned" for name in ("steadyagain-a", "steady-b")]
    for file in files:
        file.unlink()
    wait_until(files[0].exists, "it to be provisioned again")

    assert not files[1].exists()


def test_refreshes_a_healthy_component_although_it_fails(start):
    stack = start("steadyrefreshed-a", "steady-b")
    for name in ("steadyrefreshed-a", "steady-b"):
        stack.await_healthy(name)
    files = [stack.home.data(name) / "refreshed" for name in ("steadyrefreshed-a", "steady-b")]
    wait_until(lambda: files[0].exists() and files[0].stat().st_size > 1, "it to be refreshed again")

    assert not files[1].exists()


def test_restarts_a_killed_component(start):
    stack = start("steady-a")
    before = stack.await_healthy("steady-a")
    os.kill(before.pid, signal.SIGKILL)

    after = stack.await_status("steady-a", lambda status: status.is_healthy and status.restarts == 1)
    assert after.pid != before.pid


@pytest.mark.parametrize(("name", "restarts"), [("steady-a", 0), ("steadychecking-a", 1)])
def test_a_component_checks_its_data_after_a_full_disk(start, small_disk, name, restarts):
    disk = small_disk(name)
    stack = start(name)
    before = stack.await_healthy(name)
    filler = disk / "filler"
    filler.write_bytes(bytes(100 << 20))
    stack.await_status(name, lambda status: "is full" in status.reason)
    filler.unlink()
    stack.await_status(name, lambda status: status.is_healthy and status.restarts == restarts)
    assert (stack.status(name).pid == before.pid) == (restarts == 0)


def test_restarts_a_crashing_component_with_back_off_and_shows_the_reason(start):
    stack = start("crashing-a")
    status = stack.await_status("crashing-a", lambda s: s.state == "backoff" and s.restarts >= 3)

    assert "exit code 3: about to fail; next try in 0.4 s" in status.reason
    assert "about to fail" in stack.home.log("crashing-a").read_text()
    assert status.recent_restarts == status.restarts


def test_a_start_by_hand_forgets_recent_restarts(start):
    stack = start("steady-a")
    os.kill(stack.await_healthy("steady-a").pid, signal.SIGKILL)
    crashed = stack.await_status("steady-a", lambda status: status.is_healthy and status.restarts == 1)
    control.restart(stack.home, "steady-a")

    after = stack.await_healthy("steady-a")
    assert (crashed.recent_restarts, after.recent_restarts, after.restarts) == (1, 0, 1)


def test_a_component_with_a_problem_is_unhealthy_and_keeps_running(start):
    stack = start("complaining-a")
    before = stack.await_healthy("complaining-a")
    after = stack.await_status("complaining-a", lambda s: s.state == "unhealthy")

    assert after.reason == "it needs an operator"
    assert (after.pid, after.restarts) == (before.pid, 0)


def test_a_component_that_never_gets_healthy_counts_as_crashed(start):
    stack = start("deaf-a")
    status = stack.await_status("deaf-a", lambda s: s.state == "backoff" and s.restarts >= 1)

    assert "not healthy after 3 s: has not reported that it is up" in status.reason
    # Its long start was no stable run. A busy machine shows a later pause than the second one.
    assert f"next try in {0.2 if status.restarts == 1 else 0.4} s" in status.reason


def test_a_component_that_is_stopped_while_it_ends_is_ended(start):
    stack = start("deafstubborn-a")
    pid = stack.await_status("deafstubborn-a", lambda s: s.state == "starting" and s.pid is not None).pid
    asked = stack.home.data("deafstubborn-a") / "asked-to-end"
    wait_until(asked.exists, "the supervisor to end it")
    control.stop_component(stack.home, "deafstubborn-a")

    assert not is_running(pid)


def test_other_components_keep_running_while_one_crashes(start):
    stack = start("crashing-a", "steady-b")
    stack.await_status("crashing-a", lambda status: status.restarts >= 2)

    assert stack.await_healthy("steady-b").restarts == 0


def test_stops_in_reverse_order_of_needs(start):
    stack = start("steady-a", "steady-b:steady-a", "steady-c:steady-b")
    pids = [stack.await_healthy(name).pid for name in ("steady-a", "steady-b", "steady-c")]
    control.stop(stack.home)

    assert stack.ended() == 0
    ends = [line.split() for line in (stack.home.root / "order").read_text().splitlines()]
    assert [int(pid) for what, pid in ends if what == "end"] == pids[::-1]


def test_a_component_starts_without_its_target_and_is_stopped_before_it(start):
    stack = start("steady-b>crashing-c", "crashing-c", "steady-d>steady-e", "steady-e")
    pids = [stack.await_healthy(name).pid for name in ("steady-b", "steady-d", "steady-e")]
    control.stop_component(stack.home, "steady-b")
    control.stop(stack.home)

    assert stack.ended() == 0
    ends = [line.split() for line in (stack.home.root / "order").read_text().splitlines()]
    assert [int(pid) for what, pid in ends if what == "end"] == pids


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_everything(start, number):
    stack = start("steady-a", "parent-b", "stubborn-c")
    for name in ("steady-a", "parent-b", "stubborn-c"):
        stack.await_healthy(name)
    below = descendants(stack.process.pid)
    stack.process.send_signal(number)

    assert stack.ended() == 0
    assert not [pid for pid in below if is_running(pid)]


def test_kills_a_component_that_ignores_the_stop_signal(start):
    stack = start("stubborn-a")
    pid = stack.await_healthy("stubborn-a").pid
    control.stop(stack.home)

    assert not is_running(pid)


def test_no_component_outlives_a_killed_supervisor(start):
    stack = start("steady-a", "stubborn-b")
    pids = [stack.await_healthy(name).pid for name in ("steady-a", "stubborn-b")]
    stack.process.kill()
    stack.ended()

    wait_until(lambda: not any(is_running(pid) for pid in pids), "all parts to end with their supervisor")


def test_the_next_supervisor_takes_over_after_a_kill(start):
    stack = start("steady-a")
    stack.await_healthy("steady-a")
    stack.process.kill()
    stack.ended()

    assert start("steady-a").await_healthy("steady-a").restarts == 0


def test_children_of_a_killed_component_are_ended_with_it(start):
    stack = start("parent-a")
    before = stack.await_healthy("parent-a")
    children = {child.pid for child in procfs.children(before.pid)}
    os.kill(before.pid, signal.SIGKILL)
    stack.await_status("parent-a", lambda status: status.is_healthy and status.restarts == 1)

    assert not [pid for pid in children if is_running(pid)]


def test_a_child_that_left_its_group_ends_with_the_supervisor(start):
    stack = start("parting-a")
    stack.await_healthy("parting-a")
    below = descendants(stack.process.pid)
    control.stop(stack.home)

    assert stack.ended() == 0
    assert not [pid for pid in below if is_running(pid)]


def test_only_one_supervisor_per_home(start):
    start("steady-a").await_healthy("steady-a")
    second = start("steady-a")

    assert second.ended() == 1
    assert b"already running" in second.process.stdout.read()


def test_restarts_one_component_on_request(start):
    stack = start("steady-a", "steady-b")
    before = {name: stack.await_healthy(name).pid for name in ("steady-a", "steady-b")}
    control.restart(stack.home, "steady-a")

    assert stack.await_healthy("steady-a").pid != before["steady-a"]
    assert stack.status("steady-b").pid == before["steady-b"]


def test_several_components_are_stopped_in_reverse_order_before_any_starts_again(start):
    stack = start("steady-a", "steady-b:steady-a", "steady-c")
    names = ("steady-a", "steady-b")
    before = {name: stack.await_healthy(name).pid for name in (*names, "steady-c")}
    context = LocalContext(Settings.from_environment({"TAILRACE_HOME": str(stack.home.root)}), stack.home)
    context.restart((*names, "steady-d"), lambda *_: None)

    after = {name: stack.status(name).pid for name in before}
    assert after["steady-c"] == before["steady-c"]
    order = [tuple(line.split()) for line in (stack.home.root / "order").read_text().splitlines()]
    assert order[-4:] == [
        *(("end", str(before[name])) for name in reversed(names)),
        *(("start", str(after[name])) for name in names),
    ]


def test_stops_and_starts_one_component_on_request(start):
    stack = start("steady-a", "steady-b:steady-a")
    pid = stack.await_healthy("steady-a").pid
    stack.await_healthy("steady-b")
    control.stop_component(stack.home, "steady-a")
    assert not is_running(pid)
    assert stack.status("steady-a").state == "stopped"
    assert stack.status("steady-b").is_healthy

    control.start_component(stack.home, "steady-a")
    stack.await_healthy("steady-a")


def test_refuses_to_restart_an_unknown_component(start):
    stack = start("steady-a")
    stack.await_healthy("steady-a")

    with pytest.raises(control.RefusedError, match="there is no component kafka; there are steady-a"):
        control.restart(stack.home, "kafka")


def test_follows_changes_until_the_end(start):
    stack = start("steady-a")
    stack.await_healthy("steady-a")
    states = []
    for status in control.follow(stack.home):
        states.append(status.component("steady-a").state)
        if len(states) == 1:
            stack.process.terminate()

    assert states[0] == "healthy"
    assert states[-1] in ("stopping", "stopped")


def test_rotates_logs_by_size(start):
    stack = start("chatty-a")
    stack.await_healthy("chatty-a")
    log = stack.home.log("chatty-a")
    wait_until(lambda: log.with_name(f"{log.name}.2").exists(), "the log to be rotated twice")
    control.stop(stack.home)

    assert not log.with_name(f"{log.name}.3").exists()
    assert log.with_name(f"{log.name}.1").stat().st_size <= 20_000 + 65536


def test_reports_that_nothing_runs(tmp_path):
    with pytest.raises(NotRunningError, match="start it with: tailrace up"):
        control.status(Home(tmp_path))


def test_a_supervisor_that_ends_without_reading_the_request_counts_as_stopped(tmp_path):
    home = Home(tmp_path)

    def end_without_reading(server: socket.socket) -> None:
        connection, _ = server.accept()
        connection.recv(1, socket.MSG_PEEK)  # a socket that is closed with unread data resets the other
        connection.close()

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server, ThreadPoolExecutor() as threads:
        with short_path(control.socket_of(home)) as path:
            server.bind(path)
        server.listen()
        ended = threads.submit(end_without_reading, server)
        with pytest.raises(NotRunningError, match="ended before it answered"):
            control.stop(home)
        ended.result()


def test_pauses_double_up_to_a_limit_and_are_reset_after_a_stable_run():
    restart_backoff = RestartBackoff(first=1, maximum=5, stable=60)

    assert [restart_backoff.after(healthy) for healthy in (0, 0, 0, 0, 59, 60, 1)] == [1, 2, 4, 5, 5, 1, 2]


def test_components_that_need_each_other_in_a_cycle_are_refused():
    cycle = [FakeComponent("a", ("b",), None, None), FakeComponent("b", ("a",), None, None)]

    with pytest.raises(ValueError, match="cycle: a, b"):
        in_order(cycle)
