"""bin/tailrace for users and scripts: help, exit codes, one-sentence errors."""

import json
import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from tailrace import __version__
from tailrace.cli.exit_codes import Exit
from tailrace.config.resources import REPOSITORY
from tailrace_local import reference

TAILRACE = REPOSITORY / "bin" / "tailrace"

NEED_A_STACK = [
    ["status"],
    ["restart", "kafka"],
    ["down", "kafka"],
    ["savepoint"],
    ["ledger"],
    ["migrate"],
    ["backfill", "--dry-run"],
    ["alerts"],
    ["review", "list"],
]


def tailrace(*words: str, home: Path, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [environment.pop("program", TAILRACE), *words],
        env={**os.environ, "TAILRACE_HOME": str(home), **environment},
        cwd="/",
        capture_output=True,
        text=True,
    )


def test_help_lists_every_command_and_every_exit_code(tmp_path):
    shown = tailrace("--help", home=tmp_path)

    assert shown.returncode == Exit.OK
    assert all(f"\n  {command} " in shown.stdout for command in reference.modules())
    assert all(code.meaning in shown.stdout for code in Exit)


def test_the_help_of_a_java_command_needs_no_build(tmp_path):
    shown = tailrace("digest", "--help", home=tmp_path)

    assert shown.returncode == Exit.OK
    assert shown.stdout.startswith("Reports the heaviest statements") and "--order-by" in shown.stdout


@pytest.mark.parametrize("words", [["nonsense"], [], ["up", "--nonsense"]])
def test_a_wrong_call_exits_with_2(tmp_path, words):
    assert tailrace(*words, home=tmp_path).returncode == Exit.USAGE


def test_an_unknown_setting_is_one_sentence_and_exits_with_2(tmp_path):
    refused = tailrace("status", home=tmp_path, TAILRACE_PORT_KAFAK="1")

    assert refused.returncode == Exit.USAGE
    assert refused.stderr == (
        "tailrace: unknown setting TAILRACE_PORT_KAFAK; the nearest known one is TAILRACE_PORT_KAFKA\n"
    )


@pytest.mark.parametrize("words", NEED_A_STACK)
def test_commands_that_need_a_running_stack_exit_with_3(tmp_path, words):
    refused = tailrace(*words, home=tmp_path)

    assert refused.returncode == Exit.NOT_RUNNING
    assert "start it with: tailrace up" in refused.stderr


def test_down_succeeds_if_nothing_runs(tmp_path):
    assert tailrace("down", home=tmp_path).returncode == Exit.OK


def test_an_unknown_component_is_refused(tmp_path):
    refused = tailrace("up", home=tmp_path, TAILRACE_COMPONENTS="kafka,zookeeper")

    assert refused.returncode == Exit.USAGE
    assert "there is no component zookeeper; there are kafka, clickhouse" in refused.stderr


def test_a_symbolic_link_to_it_works(tmp_path):
    link = tmp_path / "tailrace"
    link.symlink_to(TAILRACE)

    assert f"tailrace {__version__}" in tailrace("--version", home=tmp_path, program=link).stdout


def test_settings_show_the_effective_values(tmp_path):
    shown = tailrace("settings", home=tmp_path, TAILRACE_PORT_FLINK="28081")

    assert any(line.split()[:2] == ["TAILRACE_PORT_FLINK", "28081"] for line in shown.stdout.splitlines())


SOUND_SOURCE = "- {instance: db-1, source: slowlog, path: slow.log}\n"


@pytest.mark.parametrize(
    ("files", "environment", "code", "message"),
    [
        (
            {"sources.yaml": SOUND_SOURCE + "- {instance: db-2}\n"},
            {},
            Exit.USAGE,
            "log 2: `source` is missing",
        ),
        (
            {"sources.yaml": SOUND_SOURCE.replace("path", "pth")},
            {},
            Exit.USAGE,
            "log 1: unknown key 'pth'; known are cluster",
        ),
        (
            {"alerts.yaml": "chanels: []\n"},
            {},
            Exit.USAGE,
            "`channels` is missing; is it meant by 'chanels'?",
        ),
        ({}, {"TAILRACE_PORT_KAFKA": "http"}, Exit.USAGE, "TAILRACE_PORT_KAFKA must be a whole number"),
        (
            {},
            {"TAILRACE_COMPONENTS": "census", "PATH": "/usr/sbin:/sbin:{tools}"},
            Exit.FAILED,
            "`java` is not on PATH; install it",
        ),
    ],
    ids=["log-incomplete", "log-with-unknown-key", "delivery", "setting", "tool"],
)
def test_up_refuses_with_one_sentence_and_starts_nothing(tmp_path, files, environment, code, message):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    tools = _only_tools(tmp_path / "bin")
    environment = {name: text.replace("{tools}", str(tools)) for name, text in environment.items()}
    refused = tailrace("up", home=tmp_path, **environment)

    assert (refused.returncode, len(refused.stderr.splitlines())) == (code, 1), refused.stderr
    assert message in refused.stderr
    assert_nothing_was_started(tmp_path)


def _only_tools(directory: Path) -> Path:
    """A PATH entry with the programs that bin/tailrace needs, without Java."""
    directory.mkdir()
    for tool in ("bash", "env", "python3", "sha256sum", "cut", "readlink", "dirname", "mkdir", "uname", "id"):
        (directory / tool).symlink_to(shutil.which(tool))
    return directory


def test_the_doctor_of_logs_needs_no_stack(tmp_path):
    (tmp_path / "slow.log").write_text("x\n")
    (tmp_path / "sources.yaml").write_text(SOUND_SOURCE + SOUND_SOURCE.replace("slow.log", "none.log"))
    done = tailrace("doctor", home=tmp_path)
    findings = json.loads(tailrace("doctor", "--json", home=tmp_path).stdout)["findings"]

    assert done.returncode == Exit.FAILED
    assert "2 logs listed in " in done.stdout and "2 errors" in done.stdout
    assert [each["message"] for each in findings] == [
        f"db-1 slowlog {tmp_path}/none.log does not exist yet; it is read from its first byte once it does",
        "no stack is running: nothing is watched",
    ]
    assert all(each["message"] in done.stdout for each in findings)
    assert "check the path in sources.yaml" in done.stdout and "read permission" not in done.stdout
    assert_nothing_was_started(tmp_path)


def test_the_doctor_of_logs_reports_a_mistake_in_the_list(tmp_path):
    (tmp_path / "sources.yaml").write_text("- {")
    done = tailrace("doctor", home=tmp_path)

    assert (done.returncode, done.stderr) == (Exit.FAILED, "")
    assert "sources.yaml: cannot be read" in done.stdout


def test_up_refuses_a_taken_port_and_names_the_process(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        refused = tailrace("up", home=tmp_path, TAILRACE_COMPONENTS="kafka", TAILRACE_PORT_KAFKA=str(port))

    assert refused.returncode == Exit.FAILED
    assert f"port {port} for kafka (broker) is taken by process {os.getpid()}" in refused.stderr
    assert_nothing_was_started(tmp_path)


def test_up_refuses_a_disk_that_is_too_small(tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "tailrace", small], capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted: {mounted.stderr.decode().strip()}")
    try:
        refused = tailrace("up", home=small, TAILRACE_COMPONENTS="census")
    finally:
        subprocess.run(["umount", small], check=True)

    assert refused.returncode == Exit.FAILED
    assert refused.stderr == f"tailrace: {small} has 0.1 GB free, at least 6 are needed\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("query_samples: 7 ", "query_samples: soon "),
            "query_samples must be 1 to 36500 days, found 'soon'",
        ),
        (("receipts: 400 ", "receipt: 400 "), "unknown table 'receipt'; the nearest known one is receipts"),
        (("days:", "day:"), "expected the key `days`"),
    ],
)
def test_up_refuses_an_invalid_retention(tmp_path, change, message):
    program = _installation(tmp_path / "installation")
    retention = tmp_path / "installation" / "sql" / "retention.yaml"
    retention.write_text(retention.read_text().replace(*change))
    refused = tailrace("up", home=tmp_path / "home", program=program)

    assert (refused.returncode, len(refused.stderr.splitlines())) == (Exit.FAILED, 1), refused.stderr
    assert f"{retention}: {message}" in refused.stderr
    assert_nothing_was_started(tmp_path / "home")


def _installation(directory: Path) -> Path:
    """Copies the files of this repository that bin/tailrace needs; returns the copied program."""
    for folder in ("bin", "embedded", "sql", "collectors", "schemas"):
        shutil.copytree(REPOSITORY / folder, directory / folder)
    return directory / "bin" / "tailrace"


def assert_nothing_was_started(home: Path) -> None:
    assert not (home / "run").exists() or not list((home / "run").iterdir())
    assert not (home / "data").exists()
