"""The registry of host keys, the key of this machine, and `tailrace keys`."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tailrace.cli import main
from tailrace.config.home import Home
from tailrace.config.resources import ROOT
from tailrace.config.settings import Settings
from tailrace.programs.census import CensusProgram
from tailrace.signing import local_key
from tailrace.signing.registry import HostKeyError, Registry, key_id
from tailrace_signing import keys as signing_keys

VECTORS = json.loads((ROOT / "schemas" / "contracts" / "signed_range.json").read_text())
PUBLIC = VECTORS["public_key"]
OTHER = "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="
AT = datetime(2026, 11, 26, 10, 31, tzinfo=UTC)


@pytest.fixture
def registry(tmp_path):
    return Registry(Home(tmp_path), lambda: AT)


def test_a_registered_key_is_never_removed(registry):
    assert registry.keys() == {}
    registry.add("db-1", PUBLIC)
    registry.add("db-1", OTHER, replaces=VECTORS["key"][:6])
    registry.add("db-1", PUBLIC)  # a second time changes nothing
    registry.revoke(VECTORS["key"][:4])
    stored = json.loads(registry.file.read_text())
    schema = json.loads((ROOT / "schemas" / "host-keys.schema.json").read_text())
    Draft202012Validator(schema).validate(stored)
    assert stored == {
        VECTORS["key"]: {
            "host": "db-1",
            "public_key": PUBLIC,
            "registered_at": "2026-11-26T10:31:00Z",
            "replaces": None,
            "revoked_at": "2026-11-26T10:31:00Z",
        },
        key_id(OTHER): {
            "host": "db-1",
            "public_key": OTHER,
            "registered_at": "2026-11-26T10:31:00Z",
            "replaces": VECTORS["key"],
            "revoked_at": None,
        },
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda each: each.add("db-2", PUBLIC), "is registered for db-1 already"),
        (lambda each: each.add("db-1", "AAAA"), "expected an Ed25519 public key"),
        (lambda each: each.add("db-1", "no base64!"), "expected an Ed25519 public key"),
        (lambda each: each.add("db-2", OTHER, replaces=VECTORS["key"]), "belongs to db-1, not to db-2"),
        (lambda each: each.add("db-1", OTHER, replaces="ffff"), "no key begins with 'ffff'"),
        (lambda each: each.revoke("ffff"), "no key begins with 'ffff'"),
        (lambda each: (each.revoke(VECTORS["key"]), each.add("db-1", PUBLIC)), "was revoked"),
    ],
)
def test_refused_changes(registry, change, message):
    registry.add("db-1", PUBLIC)
    with pytest.raises(HostKeyError, match=message):
        change(registry)
    assert list(registry.keys()) == [VECTORS["key"]]


def test_a_damaged_list_is_not_replaced(registry):
    registry.add("db-1", PUBLIC)
    registry.file.write_text(registry.text().replace(VECTORS["key"], "0" * 16))
    with pytest.raises(HostKeyError, match="the key of the id 0000000000000000 has the id"):
        registry.add("db-2", OTHER)


def test_the_key_of_this_machine_is_registered_at_the_start_of_the_census(tmp_path):
    home = Home(tmp_path)
    (tmp_path / "sources.yaml").write_text("[]")
    program = CensusProgram(settings_of(tmp_path), home)
    program.prepare()
    words = [str(word) for word in program.command()]
    key = signing_keys.read(Path(words[words.index("--key") + 1]))
    program.prepare()
    assert {id_: each.host for id_, each in Registry(home).keys().items()} == {key.id: "db-host-1"}
    assert (home.secrets / "host-ed25519.pem").stat().st_mode & 0o777 == 0o600

    unsigned = Settings.from_environment({"TAILRACE_HOME": str(tmp_path), "TAILRACE_SIGN_LOGS": "0"})
    assert "--key" not in CensusProgram(unsigned, home).command()


def settings_of(home: Path) -> Settings:
    return Settings.from_environment({"TAILRACE_HOME": str(home), "TAILRACE_HOST": "db-host-1"})


def signs(key: local_key.LocalKey, state: Path) -> None:
    """Leaves what a signer leaves."""
    id_ = key_id(local_key.public_key(key.file))
    Path(f"{key.file}{local_key.USED}").write_text(id_)
    state.write_text(json.dumps({"key": id_}))


def test_a_key_without_its_state_is_replaced(tmp_path):
    """As after a restore: the numbers of the signatures would be used again."""
    home = Home(tmp_path)
    key, state = local_key.of_census(home, settings_of(tmp_path)), home.data("census") / "signing.json"
    first = key.ensure()
    assert key.ensure() == first  # it has not signed yet
    signs(key, state)
    assert key.ensure() == first
    state.unlink()
    second = key.ensure()
    assert second.id != first.id
    assert second.replaces == first.id
    assert key.ensure() == second


def test_a_revoked_key_is_replaced_and_its_state_removed(tmp_path):
    home = Home(tmp_path)
    key, state = local_key.of_census(home, settings_of(tmp_path)), home.data("census") / "signing.json"
    first = key.ensure()
    signs(key, state)
    Registry(home).revoke(first.id)
    second = key.ensure()
    assert (second.replaces, state.exists()) == (first.id, False)


def test_a_rotation_registers_the_next_key_and_waits_for_the_signer(tmp_path):
    home = Home(tmp_path)
    key = local_key.of_census(home, settings_of(tmp_path))
    first, second = key.ensure(), key.rotate()
    assert second.replaces == first.id
    assert key_id(local_key.public_key(Path(f"{key.file}{local_key.NEXT}"))) == second.id
    assert list(Registry(home).keys()) == [first.id, second.id]
    with pytest.raises(HostKeyError, match="has not signed its last rotation yet"):
        key.rotate()


def test_the_command_lists_what_it_registers(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TAILRACE_HOME", str(tmp_path))
    assert main.main(["keys", "add", "--host", "db-1", PUBLIC], []) == 0
    assert main.main(["keys", "revoke", VECTORS["key"][:5]], []) == 0
    assert "its next start publishes the keys" in capsys.readouterr().out
    assert main.main(["keys", "list", "--output", "json"], []) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert (row["id"], row["host"]) == (VECTORS["key"], "db-1")
    assert row["revoked_at"]
    assert main.main(["keys", "add", "--host", "db-1", "AAAA"], []) == 1
