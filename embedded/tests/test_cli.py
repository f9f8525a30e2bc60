"""bin/tailrace as people and scripts call it: help, exit codes, one sentence for an error."""

import os
import subprocess
from pathlib import Path

import pytest

from tailrace.cli import COMMANDS
from tailrace.exits import Exit
from tailrace.settings import REPOSITORY

TAILRACE = REPOSITORY / "bin" / "tailrace"

NEED_A_STACK = [
    ["status"],
    ["restart", "kafka"],
    ["down", "kafka"],
    ["savepoint"],
    ["books"],
    ["migrate"],
    ["backfill", "--dry-run"],
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
    assert all(f"\n    {command}" in shown.stdout for command in COMMANDS)
    assert all(code.meaning in shown.stdout for code in Exit)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(tmp_path, command):
    shown = tailrace(command, "--help", home=tmp_path)

    assert shown.returncode == Exit.OK
    assert f"examples:\n  {'TAILRACE' if command == 'settings' else 'tailrace'}" in shown.stdout or (
        f"tailrace {command}" in shown.stdout
    )


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
def test_what_needs_a_running_stack_exits_with_3(tmp_path, words):
    refused = tailrace(*words, home=tmp_path)

    assert refused.returncode == Exit.NOT_RUNNING
    assert "start it with: tailrace up" in refused.stderr


def test_down_is_done_when_nothing_runs(tmp_path):
    assert tailrace("down", home=tmp_path).returncode == Exit.OK


def test_an_unknown_part_is_refused(tmp_path):
    refused = tailrace("up", home=tmp_path, TAILRACE_PARTS="kafka,zookeeper")

    assert refused.returncode == Exit.USAGE
    assert "there is no part zookeeper; there are kafka, clickhouse" in refused.stderr


def test_a_symbolic_link_to_it_works(tmp_path):
    link = tmp_path / "tailrace"
    link.symlink_to(TAILRACE)

    assert "tailrace 0.1.0" in tailrace("--version", home=tmp_path, program=link).stdout


def test_settings_show_the_values_in_force(tmp_path):
    shown = tailrace("settings", home=tmp_path, TAILRACE_PORT_FLINK="28081")

    assert any(line.split()[:2] == ["TAILRACE_PORT_FLINK", "28081"] for line in shown.stdout.splitlines())
