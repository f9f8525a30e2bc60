"""Tests of the JSON Schemas of records, and of the lists of topics and contracts."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

SCHEMAS = Path(__file__).resolve().parents[1]

LINE = {
    "@timestamp": 1763712000.25,
    "cluster": "shop",
    "instance": "db1",
    "source": "slowlog",
    "format": "auto",
    "tz": "Europe/Berlin",
    "path": "/var/log/mysql/slow.log",
    "offset": 0,
    "log": "# Time: 2025-11-21T08:00:00.000000Z",
}
NAMES = ("cluster", "source", "format", "tz")
SHORT = {name: value for name, value in LINE.items() if name not in NAMES} | {
    "origin": "slowlog|auto|Europe/Berlin|shop|1"
}
CENSUS = {
    "at": 1763712000.5,
    "cluster": "shop",
    "instance": "db1",
    "source": "audit",
    "path": "/var/log/mysql/audit.log.1",
    "inode": 1234,
    "size": 99,
    "head_length": 99,
    "head_hash": "d41d8cd98f00b204e9800998ecf8427e",
    "mtime": 1763711999.0,
}
PUSH = {
    "version": 1,
    "push_id": "2f6e9a44-9a3a-4c53-9ed7-3f8f6f1b8f0e",
    "pushed_at": "2026-11-21T08:00:00Z",
    "pushed_by": "ann@desk",
    "files": {"access/brute_force.yml": "title: x", "detectors.yaml": ""},
}
SILENCE = {
    "id": "7",
    "rule": "2f6e9a44-9a3a-4c53-9ed7-3f8f6f1b8f0e",
    "entity": {"user": "backup"},
    "until": "2026-11-22T08:00:00Z",
    "actor": "ann",
    "reason": "new backup host",
    "at": "2026-11-21T08:00:00Z",
}
VECTORS = json.loads((SCHEMAS / "contracts" / "signed_range.json").read_text())
SIGNED = {
    "host": "db-host-1",
    "key": VECTORS["key"],
    **{k: VECTORS["signatures"][0][k] for k in ("payload", "signature")},
}
HOST_KEY = {
    "host": "db-host-1",
    "public_key": VECTORS["public_key"],
    "registered_at": "2026-11-21T08:00:00Z",
    "replaces": None,
    "revoked_at": None,
}


def validator(contract: str) -> Draft202012Validator:
    schema = json.loads((SCHEMAS / contract).read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize(
    ("contract", "record"),
    [
        ("lines.schema.json", LINE),
        ("lines.schema.json", SHORT),
        ("lines.schema.json", {**LINE, "backfill": True, "generation": 2, "log": "one\r\ntwo\n"}),
        ("lines.schema.json", {**LINE, "something": "that a later version adds"}),
        ("census.schema.json", CENSUS),
        ("census.schema.json", {**CENSUS, "size": 0, "head_length": 0}),
        ("rules.schema.json", PUSH),
        ("rules.schema.json", SILENCE),
        ("signed-range.schema.json", SIGNED),
        ("signed-range.schema.json", {**SIGNED, "earlier_ranges": "AAAA" * 12}),
        ("host-keys.schema.json", {}),
        ("host-keys.schema.json", {VECTORS["key"]: HOST_KEY}),
    ],
)
def test_accepts(contract, record):
    assert [error.message for error in validator(contract).iter_errors(record)] == []


@pytest.mark.parametrize(
    ("contract", "record"),
    [
        ("lines.schema.json", {**LINE, "offset": -1}),
        ("lines.schema.json", {**SHORT, "origin": "slowlog|auto|shop"}),
        ("lines.schema.json", {**LINE, "source": "binlog"}),
        ("lines.schema.json", {**LINE, "instance": ""}),
        ("lines.schema.json", {**LINE, "generation": 0}),
        ("lines.schema.json", {name: value for name, value in LINE.items() if name != "offset"}),
        ("census.schema.json", {**CENSUS, "head_hash": "D41D"}),
        ("census.schema.json", {**CENSUS, "head_length": 4097}),
        ("census.schema.json", {**CENSUS, "at": "2025-11-21"}),
        ("census.schema.json", {name: value for name, value in CENSUS.items() if name != "inode"}),
        ("rules.schema.json", {**PUSH, "version": 2}),
        ("rules.schema.json", {**PUSH, "files": {"/etc/passwd.yml": ""}}),
        ("rules.schema.json", {name: value for name, value in SILENCE.items() if name != "until"}),
        ("signed-range.schema.json", {**SIGNED, "signature": "AAAA"}),
        ("signed-range.schema.json", {**SIGNED, "payload": {}}),
        ("signed-range.schema.json", {**SIGNED, "earlier_ranges": "AAAA" * 12 * 256}),
        ("host-keys.schema.json", {"no id": HOST_KEY}),
        ("host-keys.schema.json", {VECTORS["key"]: {**HOST_KEY, "public_key": "AAAA"}}),
    ],
)
def test_refuses(contract, record):
    assert list(validator(contract).iter_errors(record))


def test_the_payload_of_a_signed_range_is_as_defined():
    definitions = json.loads((SCHEMAS / "signed-range.schema.json").read_text())["$defs"]
    payload = json.loads(SIGNED["payload"])
    rotation = {name: payload[name] for name in ("host", "sequence", "previous", "at")} | {
        "new_key": VECTORS["public_key"]
    }
    Draft202012Validator(definitions["range"]).validate(payload)
    earlier = {"earlier_from": 0, "earlier_root": "0" * 64}
    Draft202012Validator(definitions["range"]).validate({**payload, **earlier})
    assert list(Draft202012Validator(definitions["range"]).iter_errors({**payload, "earlier_from": 0}))
    Draft202012Validator(definitions["rotation"]).validate(rotation)
    assert list(Draft202012Validator(definitions["range"]).iter_errors(rotation))


def test_every_topic_names_a_contract_that_exists():
    topics = yaml.safe_load((SCHEMAS / "topics.yaml").read_text())["topics"]

    assert all((SCHEMAS / contract).exists() for topic in topics for contract in topic["contract"])
    assert len({topic["name"] for topic in topics}) == len(topics)


TESTS = ("stream-jobs/*/src/test/java/**/*Test.java", "collectors/*/**/test_*.py", "*/tests/test_*.py")


@cache
def texts() -> dict[str, str]:
    """The text of each test by its name in contracts/README.md: Java by class, Python by path."""
    files = [file for glob in TESTS for file in SCHEMAS.parent.glob(glob)]
    return {
        file.stem if file.suffix == ".java" else str(file.relative_to(SCHEMAS.parent)): file.read_text()
        for file in files
    }


def readers_of(rule: str) -> set[str]:
    """The tests that read the cases of a rule."""
    reads = re.compile(rf'Contract\.(of|cases)\("{rule}"|[("/ ]{rule}\.json')
    return {name for name, text in texts().items() if reads.search(text)}


@pytest.mark.parametrize("contract", sorted(path.stem for path in (SCHEMAS / "contracts").glob("*.json")))
def test_the_readme_names_all_tests_of_a_contract(contract):
    readme = (SCHEMAS / "contracts/README.md").read_text()
    row = next(line for line in readme.splitlines() if line.startswith(f"| `{contract}.json` |"))

    assert set(re.findall(r"`([^`]+)`", row.split(" | ")[-1])) == readers_of(contract)


def codes_of(*kinds: str) -> set[int]:
    """The error codes of schemas/contracts/refusal_code.json that have one of the kinds."""
    cases = json.loads((SCHEMAS / "contracts/refusal_code.json").read_text())
    return {case["code"] for case in cases if case["kind"] in kinds}


def codes_in(rule: str) -> list[set[int]]:
    """The lists of error codes in a file of the rule pack."""
    text = (SCHEMAS.parent / "rules" / rule).read_text()
    selections = [
        each for document in yaml.safe_load_all(text) for each in document.get("detection", {}).values()
    ]
    return [set(each["error_code"]) for each in selections if isinstance(each, dict) and "error_code" in each]


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        ("access/logins.yml", "login"),
        ("access/refused_root_login.yml", "login"),
        ("access/refused_permission.yml", "privilege"),
    ],
)
def test_rules_about_refusals_have_the_codes_of_the_contract(rule, kind):
    assert codes_in(rule) == [codes_of(kind)]
