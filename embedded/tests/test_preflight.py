"""Missing requirements are reported in one sentence each, with real ports and programs."""

import ctypes
import os
import re
import socket
from pathlib import Path

import pytest

from fake_stack import FakeComponent
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace_local import preflight


@pytest.fixture
def component(tmp_path: Path) -> FakeComponent:
    return FakeComponent("steady-a", (), Settings(home=tmp_path, cache=tmp_path), Home(tmp_path))


def test_reports_the_process_that_uses_a_port(component, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        monkeypatch.setattr(component, "ports", lambda: {"web UI": port})
        (finding,) = preflight.taken_ports([component])

    assert finding.startswith(f"port {port} for steady-a (web UI) is taken by process {os.getpid()} (")


def test_a_port_that_was_just_closed_is_free(component, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            connection, _ = server.accept()
            connection.close()
            client.recv(1)
    monkeypatch.setattr(component, "ports", lambda: {"web UI": port})

    assert preflight.taken_ports([component]) == []


def test_a_missing_program_is_reported_with_its_package(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    assert preflight.absent_tools(["mvn"]) == [
        "`mvn` is not on PATH; install it, on Debian with: "
        "apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 maven"
    ]


def test_only_missing_components_require_programs(component, monkeypatch):
    monkeypatch.setattr(component, "tools", ("no-such-compiler",))
    assert not [finding for finding in preflight.missing_tools([component]) if "no-such-compiler" in finding]

    monkeypatch.setattr(component, "installed", lambda: False)
    assert [finding for finding in preflight.missing_tools([component]) if "no-such-compiler" in finding]


@pytest.mark.parametrize(
    "version", ['openjdk version "17.0.15" 2025-04-15', 'openjdk version "21" 2023-09-19']
)
def test_accepts_java_17_and_newer(version):
    assert preflight.old_java(version) == []


@pytest.mark.parametrize("version", ['java version "1.8.0_292"', 'openjdk version "11.0.2"', ""])
def test_refuses_older_java(version):
    (finding,) = preflight.old_java(version)

    assert finding == f"Java 17 or newer is needed; found: {version}"


def test_packages_are_missing_if_their_file_is(component, monkeypatch):
    monkeypatch.setattr(component, "os_packages", {"bash": "/bin/sh", "no-such-package": "/no/such/file"})

    assert preflight.missing_packages([component]) == ["no-such-package"]


def test_other_users_than_root_get_one_command_for_packages(component, monkeypatch):
    monkeypatch.setattr(component, "os_packages", {"flex": "/no/such/flex", "bison": "/no/such/bison"})
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    (finding,) = preflight.packages_to_ask_for([component])

    assert finding.endswith(
        "run: sudo apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 bison flex"
    )


def test_too_little_memory_is_reported_in_gigabytes():
    (finding,) = preflight.too_little_memory(3_200_000_000)

    assert finding.startswith("3.2 GB of memory are available, at least 4 are needed")
    assert preflight.too_little_memory(4_000_000_000) == []


def test_inotify_instances_of_this_user_are_counted():
    limit = int(Path("/proc/sys/fs/inotify/max_user_instances").read_text())
    (before,) = preflight.too_few_inotify_instances(limit + 1)
    taken = os.fdopen(ctypes.CDLL(None).inotify_init(), "rb", closefd=True)
    with taken:
        (with_one_more,) = preflight.too_few_inotify_instances(limit + 1)

    assert with_one_more.startswith(f"{limit + 1} inotify instances are needed")
    assert _free(with_one_more) == _free(before) - 1
    assert preflight.too_few_inotify_instances(_free(before)) == []
    assert re.search(r"sudo sysctl fs\.inotify\.max_user_instances=\d+$", before)


def _free(finding: str) -> int:
    return int(re.search(r"and (\d+) of", finding)[1])


def test_too_little_disk_names_the_directory(tmp_path, monkeypatch):
    monkeypatch.setattr(preflight, "MIN_DISK_BYTES", 10**18)
    settings = Settings(home=tmp_path / "not" / "yet", cache=tmp_path)
    (finding,) = preflight.too_little_disk(settings, Home(settings.home))

    assert finding.startswith(f"{settings.home} has ")


def test_all_missing_requirements_are_reported_together(component, monkeypatch):
    monkeypatch.setattr(preflight, "MIN_DISK_BYTES", 10**18)
    monkeypatch.setattr(preflight, "MIN_MEMORY_BYTES", 10**18)

    with pytest.raises(preflight.PreflightError) as refused:
        preflight.check([component], component.settings, component.home)
    assert len(str(refused.value).splitlines()) == 2
