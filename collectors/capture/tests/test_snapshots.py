"""Tests without a server: addresses, privileges, state, spool and envelopes."""

import json
import os
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tailrace_capture import dsn, snapshot
from tailrace_capture.account_names import account
from tailrace_capture.dsn import Dsn, DsnError
from tailrace_capture.facts import Fact, in_order
from tailrace_capture.grants import privileges_of_bits
from tailrace_capture.product import MARIADB, MYSQL, PERCONA, Product, product_of
from tailrace_capture.server import ServerError
from tailrace_capture.server_settings import chosen
from tailrace_capture.snapshot import Identity, Kind, Snapshot
from tailrace_capture.spool import Spool
from tailrace_capture.state_file import StateFile

SCHEMA = Path(__file__).resolve().parents[3] / "schemas" / "snapshot.schema.json"
CONTRACTS = SCHEMA.parent / "contracts"
MARIADB_11 = Product(MARIADB, (11, 4, 2), "11.4.2-MariaDB")
SETTINGS = Kind("settings", lambda server: [])


def test_reads_an_address():
    assert dsn.parse("mysql://tail%40race@db-1:3307/?tls=verify&ca=/ca.pem") == Dsn(
        "tail@race", "db-1", 3307, "", "verify", "/ca.pem"
    )
    assert dsn.parse("mysql://t@localhost/?socket=/run/m.sock").where == "/run/m.sock"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mysql://t:geheim@db-1/", "must not contain a password"),
        ("db-1:3306", "expected an address"),
        ("mysql://db-1/", "has no user"),
        ("mysql://t@db-1:99999/", "port"),
        ("mysql://t@db-1/?tls=maybe", "tls must be one of"),
        ("mysql://t@db-1/?ssl=1", "unknown option 'ssl'"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_its_secret(text, message):
    with pytest.raises(DsnError, match=message) as error:
        dsn.parse(text)
    assert "geheim" not in str(error.value)


def test_a_password_comes_from_file_or_environment_and_is_never_shown(tmp_path, monkeypatch):
    (tmp_path / "password").write_text(" with spaces \n")
    monkeypatch.setenv(dsn.PASSWORD_VARIABLE, "other")

    assert dsn.password_of(tmp_path / "password").text == " with spaces "
    assert dsn.password_of(None).text == "other"
    assert "other" not in repr(dsn.password_of(None))
    with pytest.raises(DsnError, match="cannot be read"):
        dsn.password_of(tmp_path / "missing")


@pytest.mark.parametrize(
    ("text", "comment", "product", "version"),
    [
        ("10.11.14-MariaDB-0+deb12u2-log", "Debian 12", MARIADB, (10, 11, 14)),
        ("5.7.44-48-log", "Percona Server (GPL), Release 48", PERCONA, (5, 7, 44)),
        ("8.4.2", "MySQL Community Server - GPL", MYSQL, (8, 4, 2)),
        ("9.0", "", MYSQL, (9, 0, 0)),
    ],
)
def test_products_are_identified(text, comment, product, version):
    found = product_of(text, comment)
    assert (found.name, found.version) == (product, version)


def test_mariadbs_bits_are_privileges():
    assert privileges_of_bits(0) == set()
    assert privileges_of_bits(2**64 - 1) == {"ALL PRIVILEGES", "GRANT OPTION"}
    assert privileges_of_bits(1 | 1 << 10 | 1 << 38) == {"SELECT", "GRANT OPTION", "SLAVE MONITOR"}
    assert privileges_of_bits(1 << 60) == {"BIT 60"}


def test_names_are_quoted_so_that_none_passes_for_another():
    assert account("o'neil", "%") == "'o''neil'@'%'"
    assert account("auditor", "") == "'auditor'"


def test_no_setting_that_may_hold_a_secret_is_kept():
    names = (
        "sql_mode",
        "init_connect",
        "audit_log_password_history_keep_days",
        "ssl_key",
        "server_audit_mode",
    )
    assert chosen(dict.fromkeys(names, "")) == ["server_audit_mode", "sql_mode"]


def facts(**values: str) -> list[Fact]:
    return in_order([Fact(key, {"value": value}) for key, value in values.items()])


def remembered(file: Path, at: float, **values: str) -> StateFile:
    memory = StateFile(file)
    memory.keep("settings", "ok", memory.known("settings", facts(**values), at))
    memory.save()
    return StateFile(file)


def test_the_first_snapshot_reports_no_change(tmp_path):
    assert StateFile(tmp_path / "memory").changes("settings", facts(a="1")) == []


def test_added_changed_and_removed_facts_are_reported_and_others_keep_their_time(tmp_path):
    memory = remembered(tmp_path / "memory", 1.0, a="1", b="1", c="1")
    now = facts(a="1", b="2", d="1")

    assert [(each.key, each.change) for each in memory.changes("settings", now)] == [
        ("b", "changed"),
        ("c", "removed"),
        ("d", "added"),
    ]
    assert {key: known.since for key, known in memory.known("settings", now, 2.0).items()} == {
        "a": 1.0,
        "b": 2.0,
        "d": 2.0,
    }


def test_a_kind_that_was_denied_for_a_while_does_not_count_as_removed(tmp_path):
    memory = remembered(tmp_path / "memory", 1.0, a="1")
    memory.keep("settings", "denied: no", None)

    assert memory.changes("settings", facts(a="1")) == []
    assert memory.outcome("settings") == "denied: no"


@pytest.mark.parametrize("content", ["", "[]", "{", '{"kinds": {"a": {"b": 1}}, "outcomes": {}}'])
def test_an_unreadable_state_counts_as_empty(tmp_path, content):
    (tmp_path / "memory").write_text(content)
    assert StateFile(tmp_path / "memory").changes("a", facts(a="1")) == []


def envelopes(taken: Snapshot, state: StateFile) -> list[dict]:
    return list(snapshot.envelopes(Identity("shop", "db-1"), MARIADB_11, taken, state, snapshot.HOURLY, 2.0))


def test_envelopes_match_their_schema(tmp_path):
    validator = Draft202012Validator(json.loads(SCHEMA.read_text()))
    memory = remembered(tmp_path / "memory", 1.0, a="1")
    snapshots = (
        Snapshot(SETTINGS, facts(a="2", b="1")),
        Snapshot(SETTINGS, [], "denied", "Access denied"),
        Snapshot(SETTINGS, facts(**{f"k{number}": "v" for number in range(1001)}), truncated=True),
    )
    found = [envelope for taken in snapshots for envelope in envelopes(taken, memory)]

    assert [error.message for envelope in found for error in validator.iter_errors(envelope)] == []
    assert [(each["part"], each["parts"]) for each in found] == [(1, 1), (1, 1), (1, 3), (2, 3), (3, 3)]
    assert found[0]["changes"][0]["before"] == {"value": "1"}
    assert found[1]["changes"] == []


class Refusing:
    """A server that refuses every query with one status."""

    def __init__(self, status: str) -> None:
        self.status = status

    def read(self, server) -> list[Fact]:
        raise ServerError(self.status, 1, "why")


@pytest.mark.parametrize("status", ["denied", "timeout", "absent", "failed"])
def test_a_refused_kind_is_part_of_the_snapshot(status):
    taken = snapshot.take_snapshot(None, Kind("grants", Refusing(status).read))
    assert (taken.status, taken.error, taken.facts) == (status, "why", [])


def test_an_unreachable_server_ends_the_snapshot():
    with pytest.raises(ServerError):
        snapshot.take_snapshot(None, Kind("grants", Refusing("gone").read))


def test_facts_above_the_limit_of_a_kind_are_dropped_and_flagged():
    taken = snapshot.take_snapshot(None, Kind("table_sizes", lambda server: facts(a="", b="", c=""), limit=2))
    assert ([fact.key for fact in taken.facts], taken.truncated) == (["a", "b"], True)


def test_a_line_of_the_spool_is_the_same_for_the_same_content(tmp_path):
    Spool(tmp_path, "snapshots").append([{"b": 1, "a": "ü\n\u0085"}], 0.0)
    assert (tmp_path / "snapshots-19700101T00.jsonl").read_text() == '{"a":"ü\\n\u0085","b":1}\n'


@pytest.mark.parametrize("case", json.loads((CONTRACTS / "spool.json").read_text()))
def test_spool(tmp_path, case):
    spooled = tmp_path / f"snapshots-{case['hour']}.jsonl"
    if case["before"] is not None:
        spooled.write_text(case["before"])
    other = tmp_path / "snapshots-20200101T00.jsonl"
    other.touch()
    os.utime(other, (0, case["now"] - case["age"]))

    Spool(tmp_path, "snapshots").append([{"a": 2}], case["now"])

    assert spooled.read_text() == (case["before"] or "") + case["separator"] + '{"a":2}\n'
    assert other.exists() == case["remains"]
