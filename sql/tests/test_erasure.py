"""Tests erasures on a real engine: names leave the vault for good, and rows stay as they were."""

import argparse
import base64
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from compliance_rows import asking
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from tailrace.api import tokens
from tailrace.cli.commands import erase, reveal
from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.config.home import Home
from tailrace.erasure import erasing, revealing, vault
from tailrace.erasure.pseudonyms import USER, Subject, SubjectError
from tailrace.errors import UsageError
from tailrace.evidence import framework
from tailrace.retention import holds, selectors

NOW = datetime.now(UTC) - timedelta(hours=3)
ORDER = ("--case", "2026-17", "--reason", "a request", "--actor", "ines")
ROWS = "SELECT * FROM tailrace.{} ORDER BY event_id"


@dataclass
class Stack:
    """The context of a command, with the test's server and a home directory with keys."""

    user: Callable[[str], ClickHouse]
    home: Home

    @property
    def secrets(self) -> Path:
        return self.home.secrets

    def clickhouse(self, name: str) -> ClickHouse:
        return self.user(name)


@pytest.fixture
def stack(admin: ClickHouse, user, vault_keys: Home, tmp_path) -> Iterator[Stack]:
    home = Home(tmp_path)
    shutil.copytree(vault_keys.secrets, home.secrets, dirs_exist_ok=True)
    yield Stack(user, home)
    for table in ("legal_hold_actions", "subject_vault", "archived_days", "api_token_actions"):
        admin.execute(f"TRUNCATE TABLE tailrace.{table} SYNC")


@pytest.fixture
def run(stack, capsys):
    """Runs a command with words; returns what it prints to standard output."""

    def with_words(command, *words: str) -> str:
        parser = argparse.ArgumentParser()
        command.configure(parser)
        command.run(parser.parse_args(words), stack)
        return capsys.readouterr().out.strip()

    return with_words


@pytest.fixture
def as_omar(admin, stack, tmp_path) -> tuple[str, ...]:
    """The options of `tailrace reveal` with a token of omar, a compliance officer."""
    return ("--token-file", token_file(admin, tmp_path / "omar.token", "omar"), "--reason", "alert 7")


def token_file(admin: ClickHouse, file: Path, owner: str, role="compliance", scope=revealing.SCOPE) -> str:
    wanted = tokens.Wanted(owner, role, [scope], 30, "admin")
    file.write_text(tokens.create(admin, wanted, datetime.now(UTC))[0] + "\n")
    return str(file)


def arrive(stack: Stack, name: str) -> str:
    """Sends a user's name to the vault as the jobs do; returns the pseudonym."""
    pseudonym = vault.pseudonyms(stack.secrets).of(USER, name)
    public = load_pem_public_key((stack.home.secrets / vault.PUBLIC_KEY).read_bytes())
    oaep = padding.OAEP(mgf=padding.MGF1(hashes.SHA256()), algorithm=hashes.SHA256(), label=None)
    key, nonce = os.urandom(32), os.urandom(12)
    sealed = nonce + AESGCM(key).encrypt(nonce, name.encode(), pseudonym.encode())
    row = {
        "pseudonym": pseudonym,
        "kind": USER,
        "wrapped_key": base64.b64encode(public.encrypt(key, oaep)).decode(),
        "sealed_name": base64.b64encode(sealed).decode(),
    }
    stack.user("writer").insert("tailrace.subject_arrivals", [row])
    return pseudonym


def event(user: str, **more: object) -> dict[str, object]:
    return {
        "event_id": str(uuid.uuid4()),
        "event_time": f"{NOW:%Y-%m-%d %H:%M:%S}",
        "cluster": "shop",
        "instance": "db1",
        "user": user,
        **more,
    }


def store(admin: ClickHouse, stack: Stack, name: str) -> str:
    pseudonym = arrive(stack, name)
    audit = event(pseudonym, event_class="query", verb="SELECT")
    admin.insert("tailrace.audit_events", [audit], async_insert=0)
    admin.insert("tailrace.query_events", [event(pseudonym, query_time=1, weight=1)], async_insert=0)
    return pseudonym


def names(admin: ClickHouse, pseudonym: str) -> int:
    found = "SELECT count() AS n FROM tailrace.subject_vault WHERE pseudonym = {p:String}"
    return admin.rows(found, {"p": pseudonym})[0]["n"]


def insert_account(admin: ClickHouse) -> None:
    """Stores a snapshot of the accounts of db1, with etl."""
    snapshot = {"cluster": "shop", "instance": "db1", "kind": "accounts", "at": f"{NOW:%Y-%m-%d %H:%M:%S}"}
    admin.insert("tailrace.server_snapshots", [{**snapshot, "status": "ok"}], async_insert=0)
    fact = {**snapshot, "key": "'etl'@'%'", "attributes": {"user": "etl", "host": "%", "role": "no"}}
    fact["since"] = fact["last_seen"] = fact.pop("at")
    admin.insert("tailrace.server_facts", [fact], async_insert=0)


def account_in_evidence(admin: ClickHouse) -> dict[str, object]:
    evidence = framework.result("accounts").statement()
    (account,) = admin.rows(evidence, {"to": f"{NOW + timedelta(hours=1):%Y-%m-%d %H:%M:%S}"})
    return account


def test_an_erased_name_is_gone_and_rows_stay_as_they_were(run, admin, stack, as_omar):
    etl, other = store(admin, stack, "etl"), store(admin, stack, "app")
    assert run(reveal, etl, *as_omar) == "etl"
    before = {table: admin.rows(ROWS.format(table)) for table in ("audit_events", "query_events")}

    days = admin.rows("SELECT DISTINCT name FROM tailrace.entities_1d WHERE entity_kind = 'user'")
    assert {row["name"] for row in days} == {etl, other}

    said = run(erase, "--subject", "user:etl", *ORDER)
    assert f"{etl} is erased" in said and "No counted row contains the name in clear." in said
    assert "old files" not in said
    assert {table: admin.rows(ROWS.format(table)) for table in before} == before
    with pytest.raises(SubjectError, match="was erased"):
        run(reveal, etl, *as_omar)
    assert run(reveal, other, *as_omar) == "app"

    assert arrive(stack, "etl") == etl
    assert (names(admin, etl), names(admin, other)) == (0, 1)
    assert f"{etl} is erased" in run(erase, "--subject", etl, *ORDER)


def test_the_record_has_the_pseudonym_and_not_the_name(run, admin, stack, as_omar):
    etl = store(admin, stack, "etl-of-ann")
    assert run(reveal, "user:etl-of-ann", *as_omar) == etl
    run(erase, "--subject", "user:etl-of-ann", *ORDER)
    actions = admin.rows("SELECT * FROM tailrace.legal_hold_actions ORDER BY at")
    assert "etl-of-ann" not in json.dumps(actions)
    assert [row["account"] for row in actions] == ["revealer", "auditor"]
    listed = json.loads(run(erase, "--list", "--json"))
    assert all(row.keys() == erase.KEYS[""].keys() for row in listed)
    assert [
        (row["action"], row["pseudonym"], row["case"], row["actor"], row["reason"]) for row in listed
    ] == [
        ("reveal", etl, "", "omar", "alert 7"),
        ("erase", etl, "2026-17", "ines", "a request"),
    ]
    assert etl in run(erase, "--list")


def test_rows_with_the_name_in_clear_are_counted(run, admin, stack):
    store(admin, stack, "etl")
    alert = {"rule_id": "r", "alert_id": str(uuid.uuid4()), "user": "etl", "entity": {"user": "etl"}}
    admin.insert("tailrace.alerts", [{**alert, "event_time": f"{NOW:%Y-%m-%d %H:%M:%S}"}], async_insert=0)
    message = event("", message="Access denied for user 'etl'@'web-1'")
    admin.insert("tailrace.error_events", [message], async_insert=0)
    admin.insert("tailrace.audit_events", [event("x", os_user="etl")], async_insert=0)
    said = run(erase, "--subject", "user:etl", "--dry-run", *ORDER)
    pseudonym = vault.pseudonyms(stack.secrets).of(USER, "etl")
    assert "user:etl can be erased" in said and pseudonym not in said
    assert names(admin, pseudonym) == 1
    counted = dict(line.split() for line in said.splitlines() if len(line.split()) == 2)
    assert {name: counted[name] for name in ("alerts", "error_events", "audit_events")} == {
        "alerts": "1",
        "error_events": "1",
        "audit_events": "1",
    }
    assert "tailrace.*.lines" in said and "query_samples" in said


@pytest.mark.parametrize("selector", ["user:etl", "instance:db1", "from:2020-01-01"])
def test_a_legal_hold_suspends_the_erasure(run, admin, stack, selector):
    etl = store(admin, stack, "etl")
    id_ = holds.place(stack.user("auditor"), "case 7", selectors.parse(selector), "ines", "a letter")
    with pytest.raises(SubjectError, match=r"a legal hold suspends the erasure: .*case 7"):
        run(erase, "--subject", "user:etl", *ORDER)
    assert names(admin, etl) == 1
    for person in ("ines", "omar"):
        holds.release(stack.user("auditor"), id_, person, "closed")
    assert "is erased" in run(erase, "--subject", "user:etl", *ORDER)


def test_a_hold_on_other_rows_suspends_it_only_if_there_is_an_archive(run, admin, stack):
    etl = store(admin, stack, "etl")
    holds.place(stack.user("auditor"), "case 8", selectors.parse("user:bob"), "ines", "a letter")
    assert "can be erased" in run(erase, "--subject", etl, "--dry-run", *ORDER)
    day = {
        "table": "audit_events",
        "day": "2026-01-01",
        "state": "verified",
        "at": f"{NOW:%Y-%m-%d %H:%M:%S}",
    }
    admin.insert("tailrace.archived_days", [day], async_insert=0)
    with pytest.raises(SubjectError, match="case 8"):
        run(erase, "--subject", etl, "--dry-run", *ORDER)


def test_an_interrupted_erasure_is_reported_and_its_name_is_not_shown(run, admin, stack, as_omar, capsys):
    """The erasure is recorded, and the process ended before the name was deleted."""
    etl = store(admin, stack, "etl")
    run(erase, "--list")
    order = erasing.Order("ines", "a request", "2026-17")
    erasing._record(stack.user("auditor"), erasing.ERASE, Subject(USER, etl), order)
    assert names(admin, etl) == 1
    with pytest.raises(SubjectError, match="was erased"):
        run(reveal, etl, *as_omar)
    erase_list = argparse.Namespace(list=True, output="table")
    erase.run(erase_list, stack)
    assert f"the vault still has the name of {etl}: repeat" in capsys.readouterr().err
    run(erase, "--subject", etl, *ORDER)
    erase.run(erase_list, stack)
    assert (names(admin, etl), capsys.readouterr().err) == (0, "")


def test_an_erasure_is_repeated_after_the_restore_of_an_older_backup(run, admin, stack):
    """The backup has rows with the pseudonym, but neither the vault nor the record."""
    etl = store(admin, stack, "etl")
    admin.execute("TRUNCATE TABLE tailrace.subject_vault SYNC")
    assert "is erased" in run(erase, "--subject", "user:etl", *ORDER)
    arrive(stack, "etl")
    assert names(admin, etl) == 0


@pytest.mark.parametrize("told", [("case of Etl", "a request"), ("2026-17", "user 'etl' has left")])
def test_the_record_refuses_the_name(run, admin, stack, as_omar, told):
    etl = store(admin, stack, "etl")
    case, reason = told
    words = ("--case", case, "--reason", reason, "--actor", "ines")
    with pytest.raises(SubjectError, match="without the name"):
        run(erase, "--subject", "user:etl", *words)
    with pytest.raises(SubjectError, match="without the name"):
        run(reveal, "user:etl", *as_omar[:2], "--reason", "where is etl?")
    assert (names(admin, etl), erasing.recorded(admin)) == (1, [])


def test_refuses_what_it_cannot_do(run, stack):
    with pytest.raises(SubjectError, match="no row with it was stored"):
        run(erase, "--subject", "user:nobody", *ORDER)
    with pytest.raises(UsageError, match="--case"):
        run(erase, "--subject", "user:etl", "--reason", "a request")


def test_the_jobs_and_the_audiences_cannot_read_the_vault(stack, admin):
    for name in ("writer", "auditor", "revealer", "reader_compliance", "reader_security", "reader_unmasked"):
        with pytest.raises(ClickHouseError, match=r"[Nn]ot enough privileges"):
            stack.user(name).rows("SELECT * FROM tailrace.subject_vault")
    with pytest.raises(ClickHouseError, match="subject_is_a_pseudonym"):
        holds.append(stack.user("auditor"), str(uuid.uuid4()), "reveal", "ann", "x", ['{"pseudonym":"etl"}'])


def test_accounts_of_a_server_with_pseudonyms_are_not_called_unused(admin, stack, user, rendered):
    """The view would compare the names of accounts with pseudonyms, and find that nobody used them."""
    store(admin, stack, "etl")
    long_ago = event("app", event_class="query")
    long_ago["event_time"] = f"{NOW - timedelta(days=200):%Y-%m-%d %H:%M:%S}"
    admin.insert("tailrace.audit_events", [long_ago], async_insert=0)
    insert_account(admin)
    found = admin.rows("SELECT account, state FROM tailrace.accounts_unused")
    assert found == [{"account": "'etl'@'%'", "state": "not known"}]
    ask = asking(user, rendered)
    assert [row["state"] for row in ask("accounts")] == ["not known"]
    account = account_in_evidence(admin)
    assert (account["last_use"], account["pseudonyms_in_logs"]) == (None, "yes")
    privileged = ask("privileged", kind=["administrators"])
    assert [(row["user"], row["result"]) for row in privileged] == [("(pseudonyms)", "unknown")]
    assert privileged[0]["operation"].startswith("1 record of users that are stored as pseudonyms")


def test_a_refused_login_does_not_hide_unused_accounts(admin, user, rendered):
    """Without pseudonyms: a stranger chooses the name of a refused login."""
    at = f"{NOW - timedelta(days=200):%Y-%m-%d %H:%M:%S}"
    refused = {"event_class": "connection", "status": 1045, "verb": "CONNECT"}
    rows = [event("app", event_class="query") | {"event_time": at}, event(f"p1-user-{32 * '0'}", **refused)]
    admin.insert("tailrace.audit_events", rows, async_insert=0)
    insert_account(admin)
    found = admin.rows("SELECT account, state FROM tailrace.accounts_unused")
    assert found == [{"account": "'etl'@'%'", "state": "never used"}]
    assert [row["state"] for row in asking(user, rendered)("accounts")] == ["never used"]
    assert account_in_evidence(admin)["pseudonyms_in_logs"] == "no"
