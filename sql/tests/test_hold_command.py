"""The commands `tailrace hold` and `tailrace retention` on a real ClickHouse."""

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tailrace.cli import remote
from tailrace.cli.commands import hold, retention
from tailrace.cli.exit_codes import Exit
from tailrace.config.home import Home
from tailrace.erasure import vault
from tailrace.retention.holds import HoldError


@dataclass
class Stack:
    """The context of a command, with the test's server."""

    user: Callable
    home: Home

    @property
    def secrets(self) -> Path:
        return self.home.secrets

    def clickhouse(self, name: str):
        return self.user(name)


@pytest.fixture
def home(tmp_path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def run(admin, user, home, capsys):
    """Runs a command with words; returns what it prints to standard output."""

    def with_words(command, *words: str) -> str:
        parser = argparse.ArgumentParser()
        command.configure(parser)
        command.run(parser.parse_args(words), Stack(user, home))
        return capsys.readouterr().out

    return with_words


def test_a_hold_is_placed_listed_and_released_by_two_people(run, admin):
    """The key `client` is in few tables, so that few TTLs change."""
    given = ("--case", "2026-17", "--reason", "a letter", "--actor", "ines")
    said = run(hold, "place", "--selector", "client:10.0.0.7 from:2026-10-01", *given)
    assert "retention of audit_events: 400 days, without rows that 1 condition keeps" in said
    assert "is in force: client:10.0.0.7 from:2026-10-01T00:00:00" in said

    (listed,) = json.loads(run(hold, "list", "--output", "json"))
    assert listed.keys() == hold.KEYS["list"].keys()
    assert (listed["case"], listed["state"], listed["released_at"]) == ("2026-17", "active", None)
    shown = json.loads(run(retention, "show", "--framework", "hipaa", "--output", "json"))
    assert {row["table"] for row in shown if row["too_short_for"]} == {
        *("audit_events", "error_events", "data_access", "entities_1d"),
        *("alerts", "alert_actions", "silences", "alert_deliveries", "rule_pushes", "api_requests"),
        *("search_runs", "delivery_channels"),
    }, "tables that sql/retention.yaml keeps for less time than HIPAA demands of their class: add a new one"
    assert all(row.keys() == retention.KEYS["show"].keys() for row in shown)

    words = ("release", listed["id"][:6], "--reason", "closed", "--actor")
    assert "another person must confirm it" in run(hold, *words, "ines")
    with pytest.raises(HoldError, match="another person"):
        run(hold, *words, "ines")
    assert "released by omar" in run(hold, *words, "omar")
    assert "omar" in run(hold, "list")
    said = run(hold, "place", "--selector", "client:10.0.0.8", "--record-only", *given)
    assert "in force after the next run of `retention`" in said
    assert "retention of audit_events: 400 days, without rows that 1 condition" in run(retention, "apply")
    admin.execute("TRUNCATE TABLE tailrace.legal_hold_actions SYNC")
    run(retention, "apply")
    assert run(retention, "apply").splitlines() == ["the TTLs of all tables are right"]
    admin.execute("TRUNCATE TABLE tailrace.legal_hold_actions SYNC")


def test_a_hold_by_name_warns_where_rows_have_pseudonyms(admin, user, home, capsys):
    parser = argparse.ArgumentParser()
    hold.configure(parser)
    words = ("place", "--case", "c", "--reason", "r", "--record-only", "--selector")
    arguments = parser.parse_args([*words, f"user:etl user:p1-user-{32 * '0'} instance:db1"])
    hold.run(arguments, Stack(user, home))
    assert capsys.readouterr().err == ""
    vault.make_keys(home)
    hold.run(arguments, Stack(user, home))
    assert "does not select rows with the pseudonym of user:etl (" in capsys.readouterr().err
    admin.execute("TRUNCATE TABLE tailrace.legal_hold_actions SYNC")


def test_commands_in_containers_need_an_address_and_passwords_only(
    admin, user, monkeypatch, tmp_path, capsys
):
    """As `python -m tailrace.deployment command`: a hold that another step puts in force, and the archive."""
    monkeypatch.setenv("TAILRACE_HOME", str(tmp_path))
    monkeypatch.setenv("TAILRACE_ARCHIVE", str(tmp_path / "archive"))

    for name in ("admin", "auditor"):
        (tmp_path / f"clickhouse-{name}").write_text(user(name).password)

    def said(*words: str) -> str:
        assert remote.run(words, admin.url, tmp_path) == Exit.OK
        return capsys.readouterr().out

    given = ("--case", "7", "--reason", "r", "--actor", "ines", "--record-only")
    assert "is recorded" in said("hold", "place", "--selector", "client:10.0.0.9", *given)
    assert "client:10.0.0.9" in said("hold", "list")
    assert "0 days can be" in said("archive", "delete", "--before", "2020-01-01")
    assert said("archive", "list") == ""
    admin.execute("TRUNCATE TABLE tailrace.legal_hold_actions SYNC")


@pytest.mark.parametrize(
    "selector", ["", "db1", "color:red", "from:2026-11-02 to:2026-11-01", "user:", "from:x"]
)
def test_what_is_no_selector_is_refused(run, selector, capsys):
    with pytest.raises(SystemExit):
        run(hold, "place", "--case", "c", "--selector", selector, "--reason", "r")
    assert "argument --selector" in capsys.readouterr().err
