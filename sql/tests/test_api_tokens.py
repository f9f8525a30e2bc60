"""`tailrace tokens`: creation, list and revocation of tokens of the REST API."""

import argparse
import json
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from tailrace.api import tokens
from tailrace.api.tokens import TokenError, Wanted
from tailrace.cli.commands import tokens as command
from tailrace.clickhouse.client import ClickHouseError


@dataclass
class Stack:
    """The context of a command whose stack is the test's server."""

    user: object

    def clickhouse(self, name: str):
        return self.user(name)


@pytest.fixture
def run(admin, user, capsys):
    """Runs the command with words; returns what it prints to standard output."""

    def with_words(*words: str) -> str:
        parser = argparse.ArgumentParser()
        command.configure(parser)
        command.run(parser.parse_args(words), Stack(user))
        return capsys.readouterr().out

    return with_words


def create(run, *more: str) -> str:
    return run("create", "--owner", "ci", "--role", "developer", "--scope", "ledger:read", *more).strip()


def test_a_token_is_created_listed_and_revoked(run, user):
    token = create(run, "--expires", "7d", "--actor", "ann", "--reason", "nightly check")
    stored = tokens.find(user("api"), token)
    assert (stored.owner, stored.role, stored.scopes) == ("ci", "developer", {"ledger:read"})
    (listed,) = json.loads(run("list", "--output", "json"))
    assert listed.keys() == command.KEYS["list"].keys()
    assert (listed["state"], listed["created_by"], listed["last_used_at"]) == ("valid", "ann", None)
    assert "never" in run("list") and token not in run("list")
    assert "is revoked" in run("revoke", listed["id"][:6], "--reason", "leaked", "--actor", "erin")
    (listed,) = json.loads(run("list", "--output", "json"))
    assert (listed["state"], listed["revoked_by"]) == ("revoked", "erin")
    assert tokens.find(user("api"), token).revoked_at
    with pytest.raises(TokenError, match="revoked already"):
        run("revoke", listed["id"], "--reason", "again")


def test_the_command_accepts_the_old_name_of_a_scope(run, user):
    token = run("create", "--owner", "ci", "--role", "developer", "--scope", "books:read").strip()
    assert tokens.find(user("api"), token).scopes == {"ledger:read"}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"role": "admin"}, "no role 'admin'"),
        ({"scopes": ["alerts:read"]}, "the role developer cannot have alerts:read"),
        ({"scopes": ["everything"]}, "no scope 'everything'"),
        ({"scopes": []}, "at least one scope"),
        ({"owner": " "}, "needs an owner"),
        ({"days": 0}, "1 to 366 days"),
        ({"days": 367}, "1 to 366 days"),
    ],
)
def test_a_token_that_makes_no_sense_is_refused(admin, changed, message):
    given = {"owner": "ci", "role": "developer", "scopes": ["ledger:read"], "days": 1, "actor": "ann"}
    with pytest.raises(TokenError, match=message):
        tokens.create(admin, Wanted(**{**given, **changed}), datetime.now(UTC))


@pytest.mark.parametrize("prefix", ["xyz", "", "ffffffff", "' OR 1=1"])
def test_an_unknown_token_cannot_be_revoked(run, prefix):
    create(run)
    with pytest.raises(TokenError):
        run("revoke", prefix, "--reason", "x")


def test_the_service_can_neither_create_nor_change_tokens(run, user):
    create(run)
    for statement in (
        "INSERT INTO tailrace.api_token_actions (token_id) VALUES (generateUUIDv4())",
        "ALTER TABLE tailrace.api_token_actions DELETE WHERE 1",
        "TRUNCATE TABLE tailrace.api_requests",
        "SELECT * FROM tailrace.alerts",
    ):
        with pytest.raises(ClickHouseError) as error:
            user("api").execute(statement)
        assert error.value.code == 497
