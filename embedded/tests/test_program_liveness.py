"""Tests that a program which waits for another server is unhealthy, but needs no restart."""

import json
import re
import time
from pathlib import Path

import pytest

from tailrace.cli.exit_codes import Exit
from tailrace.config.home import Home
from tailrace.deployment import __main__ as deployment

LONG = 3 * 3600
"""Seconds that are over each limit."""
FILES = {
    "delivery": ("delivery/beat", "chat"),
    "facts": ("facts/beat", ""),
    "forwarding": ("forwarding/siem-0.json", ""),
    "repair": ("repair/beat", ""),
    "transparency": ("transparency/beat", ""),
    "pull": ("pull/beat", ""),
    "callbacks": ("callbacks/beat", ""),
}
"""The heartbeat file of each program, and the channel that it lists, if it does."""
WAITING = ("delivery", "facts", "forwarding", "repair")
"""Programs whose health includes servers that they need."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("TAILRACE_HOME", str(tmp_path))
    return Home(tmp_path)


def beat(home: Home, name: str, age: float, problem: str = "") -> None:
    file, channel = FILES[name]
    heartbeat = {"at": time.time() - age, "problem": problem, "since": time.time() - LONG, "unsolved": ""}
    home.data(name)
    path = home.root / "data" / file
    path.write_text(json.dumps({channel: heartbeat} if channel else heartbeat))


def health(name: str, *words: str) -> int:
    return deployment.main(["health", name, *words])


@pytest.mark.parametrize("name", WAITING)
def test_a_server_that_is_unavailable_makes_a_program_unhealthy_and_not_stuck(home, name, capsys):
    beat(home, name, -LONG, "cannot query ClickHouse")
    assert (health(name), health(name, "--alive")) == (Exit.FAILED, Exit.OK)
    assert "cannot query ClickHouse" in capsys.readouterr().err


@pytest.mark.parametrize("name", FILES)
def test_a_program_without_a_recent_heartbeat_is_stuck(home, name, capsys):
    assert health(name, "--alive") == Exit.FAILED
    beat(home, name, -LONG)
    assert (health(name), health(name, "--alive")) == (Exit.OK, Exit.OK)
    beat(home, name, LONG)
    assert health(name, "--alive") == Exit.FAILED
    assert re.search(r" for \d+ s$", capsys.readouterr().err, re.MULTILINE)


def test_one_channel_that_is_stuck_is_found_among_others(home, capsys):
    now = time.time()
    heartbeats = {"chat": {"at": now + LONG, "problem": "away"}, "mail": {"at": now - LONG, "problem": ""}}
    (home.data("delivery") / "beat").write_text(json.dumps(heartbeats))
    assert health("delivery", "--alive") == Exit.FAILED
    assert "mail: no attempt has ended" in capsys.readouterr().err
