import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Event, Thread

import census
import pytest
import tailrace_collector

from tailrace.config.resources import REPOSITORY
from tailrace.programs.fluentbit import instances_for

SETTINGS = tailrace_collector.read_settings(REPOSITORY / "collectors/collector.env")


@contextmanager
def answering(status: int) -> Iterator[dict[str, str]]:
    """Settings of a Fluent Bit whose health has this HTTP status."""

    class Health(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Health)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield {"TAILRACE_HEALTH_HOST": "127.0.0.1", "TAILRACE_HEALTH_PORT": str(server.server_port)}
    server.shutdown()
    server.server_close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    made = tmp_path / "slow.log"
    made.write_text("# Time: 2026-11-21T02:49:19.811511Z\n")
    return made


@pytest.fixture
def program(tmp_path: Path) -> Path:
    made = tmp_path / "fluent-bit"
    made.write_text("#!/bin/sh\necho Fluent Bit v5.1.1\n")
    made.chmod(0o755)
    return made


def errors(**settings: object) -> list[str]:
    texts = {
        "TAILRACE_INSTANCE": "db",
        **{f"TAILRACE_{name}": str(value) for name, value in settings.items()},
    }
    return [each.what for each in tailrace_collector.findings(texts) if each.is_error]


def test_fluent_bit_reads_the_logs_that_have_a_path(tmp_path):
    settings = {**SETTINGS, "TAILRACE_AUDIT_PATH": "", "TAILRACE_HOST_KEY": "/key", "TAILRACE_SERVER_DSN": ""}
    file = tmp_path / "fluent-bit.conf"
    assert tailrace_collector.configure(file, settings) == 0
    names = ("service", "slowlog", "errorlog", "census", "kafka", "signed")
    directory = "/usr/lib/tailrace/fluent-bit"
    assert file.read_text() == "".join(f"@INCLUDE {directory}/{name}.conf\n" for name in names)


def test_settings_without_a_log_are_refused(tmp_path, capsys):
    settings = {name: value for name, value in SETTINGS.items() if not name.endswith("_PATH")}
    assert tailrace_collector.configure(tmp_path / "fluent-bit.conf", settings) == 2
    assert "_PATH is set" in capsys.readouterr().err


def test_every_kind_of_log_has_a_file_of_fluent_bit():
    settings = {f"TAILRACE_{kind.upper()}_PATH": "/log" for kind in census.KINDS}
    every = {"TAILRACE_INSTANCE": "db", "TAILRACE_HOST_KEY": "/key", "TAILRACE_SERVER_DSN": "dsn"}
    for name in tailrace_collector.included_files({**settings, **every}):
        assert (REPOSITORY / "collectors/fluent-bit" / name).is_file()


def test_settings_are_read_as_by_systemd(tmp_path):
    file = tmp_path / "collector.env"
    file.write_text("# NAME=comment\nA=1=2\nB='with blank'\nC=\"quoted\"\nD=\n;E=5\n\n")
    assert tailrace_collector.read_settings(file) == {"A": "1=2", "B": "with blank", "C": "quoted", "D": ""}


def test_a_fluent_bit_whose_output_has_failed_is_ended():
    stopped = Event()
    with answering(500) as settings, subprocess.Popen(["sleep", "60"]) as process:
        arguments = (settings, lambda _: process.pid, 0.01, stopped)
        Thread(target=tailrace_collector.watch, args=arguments, daemon=True).start()
        try:
            assert process.wait(timeout=10) == -signal.SIGTERM
        finally:
            stopped.set()
            process.kill()


@pytest.mark.parametrize("status", [200, 404])
def test_other_answers_are_no_failure(status):
    with answering(status) as settings:
        assert not tailrace_collector.has_failed(settings)


def test_a_fluent_bit_that_does_not_answer_is_left_alone():
    with answering(200) as settings:
        pass
    assert not tailrace_collector.has_failed(settings)


def test_the_check_finds_nothing_in_right_settings(log, program):
    with socket.create_server(("127.0.0.1", 0)) as broker:
        address = f"127.0.0.1:{broker.getsockname()[1]}"
        assert errors(SLOWLOG_PATH=log, FLUENT_BIT=program, KAFKA_BROKERS=address) == []
    (refused,) = errors(SLOWLOG_PATH=log, FLUENT_BIT=program, KAFKA_BROKERS=address)
    assert address in refused


def test_the_check_names_a_missing_log_and_a_symbolic_link(tmp_path, log, program):
    (tmp_path / "link.log").symlink_to(log)
    missing = f"{tmp_path}/missing.log,{tmp_path}/none/slow.log,{tmp_path}/link.log"
    found = errors(SLOWLOG_PATH=missing, FLUENT_BIT=program, KAFKA_BROKERS="127.0.0.1:1")
    for expected in ("missing.log does not exist", f"no directory {tmp_path}/none", "symbolic link"):
        assert any(expected in each for each in found), found


def test_the_check_says_how_to_make_a_log_readable():
    finding = tailrace_collector.unreadable(Path("/etc/gshadow"), "/etc/gshadow")
    assert finding.correction == "usermod --append --groups shadow tailrace, then restart the services"
    finding = tailrace_collector.unreadable(Path("/root"), "/root/slow.log")
    assert finding.correction == "setfacl --modify user:tailrace:rx /root"


def test_an_old_fluent_bit_is_refused(program):
    program.write_text("#!/bin/sh\necho Fluent Bit v1.8.15\n")
    assert "too old" in tailrace_collector.fluent_bit_finding(str(program)).what


def test_the_number_of_inotify_instances_is_that_of_one_machine():
    assert instances_for(7) == 7 + tailrace_collector.FURTHER_INOTIFY_INSTANCES
    assert tailrace_collector.inotify_finding(10**9).is_error
