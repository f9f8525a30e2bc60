"""Tests on a real engine that ClickHouse decides who may reveal a name, and records it before it gives it."""

import json
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from test_erasure import NOW, arrive, run, stack, token_file

from tailrace.api import tokens
from tailrace.cli import remote
from tailrace.cli.commands import reveal
from tailrace.cli.context import CommandError
from tailrace.cli.exit_codes import Exit
from tailrace.clickhouse.client import ClickHouseError
from tailrace.erasure import erasing, revealing, vault
from tailrace.erasure.pseudonyms import USER, SubjectError
from tailrace.retention.holds import HoldError

__all__ = ["run", "stack"]
WHY = ("--reason", "alert 7")
SCOPE = revealing.SCOPE
REQUEST = "tailrace.name_reveals (reveal_id, token, pseudonym, reason)"
VIOLATED_CONSTRAINT = 469
SETTING_IS_CONSTANT = 452


def recorded(admin) -> list[tuple[str, str]]:
    return [(each.actor, each.reason) for each in erasing.recorded(admin)]


def request(pseudonym: str, token: str, **more: str) -> dict[str, str]:
    return {"reveal_id": str(uuid.uuid4()), "token": token, "pseudonym": pseudonym, "reason": "x", **more}


def insert_record(clickhouse, pseudonym: str, **more: str) -> None:
    """Appends a reveal to the record itself, in the name of ann."""
    row = {"hold_id": str(uuid.uuid4()), "action": "reveal", "actor": "ann", "reason": "x", **more}
    row["selector"] = json.dumps({"pseudonym": pseudonym, "role": "compliance"})
    clickhouse.insert(f"tailrace.legal_hold_actions ({', '.join(row)})", [row])


@pytest.mark.parametrize("role", ["compliance", "security"])
def test_a_person_whose_role_permits_it_reads_a_name(run, admin, stack, tmp_path, role):
    etl = arrive(stack, "etl")
    token = token_file(admin, tmp_path / "token", "omar", role)
    assert run(reveal, etl, "--token-file", token, *WHY) == "etl"
    (found,) = erasing.recorded(admin)
    (listed,) = tokens.listed(admin)
    assert (found.actor, found.reason) == ("omar", "alert 7")
    assert found.details == {
        "kind": USER,
        "pseudonym": etl,
        "role": role,
        "token": str(uuid.UUID(listed["id"])),
    }
    assert tokens.digest((tmp_path / "token").read_text().strip()) not in json.dumps(found.details)


def test_a_developer_gets_no_token_for_it(admin, stack, tmp_path):
    with pytest.raises(tokens.TokenError, match=f"developer cannot have {SCOPE}"):
        token_file(admin, tmp_path / "token", "dan", "developer")


@pytest.mark.parametrize("state", ["another scope", "revoked", "expired", "unknown", "role lost it"])
def test_other_tokens_are_denied(run, admin, stack, tmp_path, state):
    etl = arrive(stack, "etl")
    file = tmp_path / "token"
    if state == "expired":
        token_file(admin, file, "omar")
        admin.execute(
            "ALTER TABLE tailrace.api_token_actions UPDATE expires_at = now() - 60 WHERE 1", mutations_sync=2
        )
    elif state == "role lost it":
        secret = tokens.PREFIX + "A" * 43
        row = {"token_id": str(uuid.uuid4()), "action": "create", "token_sha256": tokens.digest(secret)}
        row |= {"owner": "dan", "role": "developer", "scopes": [SCOPE], "actor": "admin"}
        row["expires_at"] = f"{datetime.now(UTC) + timedelta(days=9):%Y-%m-%d %H:%M:%S}"
        admin.insert(f"tailrace.api_token_actions ({', '.join(row)})", [row])
        file.write_text(secret)
    elif state == "unknown":
        file.write_text(tokens.PREFIX + "A" * 43)
    else:
        token_file(admin, file, "omar", scope="evidence:read" if state == "another scope" else SCOPE)
    if state == "revoked":
        tokens.revoke(admin, tokens.listed(admin)[0]["id"], "admin", "omar has left")
    with pytest.raises(revealing.DeniedError):
        run(reveal, etl, "--token-file", str(file), *WHY)
    assert recorded(admin) == ([("dan", "alert 7")] if state == "role lost it" else [])


HIDING = {"additional_table_filters": "{'tailrace.api_token_actions': 'action = \\'create\\''}"}


@pytest.mark.parametrize(
    "settings",
    [
        HIDING,
        {"profile": "admin", **HIDING},
        {"max_rows_to_group_by": 1, "group_by_overflow_mode": "any"},
        {"max_execution_time": 61},
        {"max_rows_to_read": 1, "read_overflow_mode": "break"},
    ],
)
def test_no_setting_of_a_request_hides_that_a_token_was_revoked(admin, stack, tmp_path, settings):
    etl = arrive(stack, "etl")
    token_file(admin, tmp_path / "token", "omar")
    tokens.revoke(admin, tokens.listed(admin)[0]["id"], "admin", "omar has left")
    with pytest.raises(ClickHouseError) as error:
        stack.user("revealer").insert(
            REQUEST, [request(etl, (tmp_path / "token").read_text().strip())], **settings
        )
    assert (error.value.code, recorded(admin)) == (SETTING_IS_CONSTANT, [])


def test_there_is_no_reveal_without_a_reason(run, admin, stack, tmp_path):
    etl = arrive(stack, "etl")
    token = token_file(admin, tmp_path / "token", "omar")
    with pytest.raises(SystemExit):
        run(reveal, etl, "--token-file", token)
    with pytest.raises(HoldError, match="needs a reason"):
        run(reveal, etl, "--token-file", token, "--reason", " ")
    blank = request(etl, (tmp_path / "token").read_text().strip(), reason=" ")
    with pytest.raises(ClickHouseError) as error:
        stack.user("revealer").insert(REQUEST, [blank])
    assert error.value.code == VIOLATED_CONSTRAINT
    assert recorded(admin) == []


def test_the_account_reads_recorded_names_for_some_minutes_only(admin, stack, tmp_path):
    """A user who has only the password of the account reads nothing that is not recorded."""
    etl = arrive(stack, "etl")
    token_file(admin, tmp_path / "token", "omar")
    secret = (tmp_path / "token").read_text().strip()
    revealer = stack.user("revealer")
    names = "SELECT pseudonym FROM tailrace.revealed_names"
    insert_record(admin, etl, at=f"{NOW:%Y-%m-%d %H:%M:%S}", account="revealer")
    assert revealer.rows(names) == [], "it was recorded hours ago"
    revealer.insert(REQUEST, [request(etl, tokens.digest(secret))])
    assert revealer.rows(names) == [], "the hash, which the account `api` can read, is no token"
    revealer.insert(REQUEST, [request(etl, secret)])
    assert revealer.rows(names) == [{"pseudonym": etl}]
    with pytest.raises(ClickHouseError, match=r"[Nn]ot enough privileges"):
        revealer.insert("tailrace.name_reveals", [request(etl, secret, account="ann")])
    assert recorded(admin) == [("ann", "x"), ("omar", "x")]


def test_a_record_of_another_account_opens_no_name(admin, stack):
    """`auditor` appends to the record without a token."""
    etl = arrive(stack, "etl")
    insert_record(stack.user("auditor"), etl)
    assert recorded(admin) == [("ann", "x")]
    assert stack.user("revealer").rows("SELECT * FROM tailrace.revealed_names") == []


def test_a_missing_name_key_or_token_is_stated(run, admin, stack, tmp_path):
    token = token_file(admin, tmp_path / "token", "omar")
    nobody = vault.pseudonyms(stack.secrets).of(USER, "nobody")
    with pytest.raises(SubjectError, match="has no name in the vault"):
        run(reveal, nobody, "--token-file", token, *WHY)
    before = recorded(admin)
    none = str(tmp_path / "none")
    with pytest.raises(CommandError, match="private key of the vault is not"):
        run(reveal, nobody, "--token-file", token, *WHY, "--key", none)
    with pytest.raises(CommandError, match="your token is not"):
        run(reveal, nobody, "--token-file", none, *WHY)
    assert recorded(admin) == before


def test_in_containers_the_commands_need_passwords_keys_and_an_address(
    admin, stack, tmp_path, monkeypatch, capsys
):
    """As `python -m tailrace.deployment command`: each directory has what its service mounts."""
    monkeypatch.setenv("TAILRACE_HOME", str(tmp_path / "empty"))
    etl, token = arrive(stack, "etl"), token_file(admin, tmp_path / "token", "omar")
    mounted = {"reveal": ("revealer",), "command": ("admin", "auditor")}
    for service, accounts in mounted.items():
        (tmp_path / service).mkdir()
        (tmp_path / service / vault.PSEUDONYM_KEY).write_bytes(
            (stack.secrets / vault.PSEUDONYM_KEY).read_bytes()
        )
        for name in accounts:
            (tmp_path / service / f"clickhouse-{name}").write_text(stack.user(name).password)

    def said(service: str, *words: str) -> str:
        assert remote.run(words, admin.url, tmp_path / service) == Exit.OK
        return capsys.readouterr().out

    key = str(stack.secrets / vault.PRIVATE_KEY)
    assert said("reveal", "reveal", etl, "--token-file", token, "--key", key, *WHY) == "etl\n"
    assert said("reveal", "reveal", "user:etl", "--token-file", token, *WHY) == f"{etl}\n"
    order = ("--case", "7", "--reason", "r", "--actor", "ines")
    assert f"{etl} is erased" in said("command", "erase", "--subject", "user:etl", *order)
