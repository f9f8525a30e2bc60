"""Unreachable and misconfigured servers are reported separately, and do not affect other servers."""

import json
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tailrace_capture import targets
from tailrace_capture.explain.samples import Sample, SamplesError
from tailrace_capture.explain.service import ExplainService, Limits
from tailrace_capture.service import Schedule, Service
from tailrace_capture.targets import ConfigurationError

SCHEMA = json.loads((Path(__file__).resolve().parents[3] / "schemas" / "snapshot.schema.json").read_text())
NOWHERE = "mysql://t@localhost/?socket=/nonexistent/mysql.sock"


def servers(directory: Path) -> list[targets.Target]:
    listed = [
        {"instance": "port", "dsn": "mysql://t@db-1:99999/"},
        {"instance": "option", "dsn": "mysql://t@db-1/?ssl=1"},
        {"instance": "authority", "dsn": f"mysql://t@127.0.0.1:1/?tls=verify&ca={directory / 'none.pem'}"},
        {"instance": "password", "dsn": NOWHERE, "password_file": str(directory / "none")},
        {"instance": "away", "dsn": NOWHERE},
    ]
    file = directory / "servers.json"
    file.write_text(json.dumps(listed))
    return targets.from_file(file)


def spooled(directory: Path) -> list[dict]:
    return [
        json.loads(line)
        for file in sorted(directory.glob("snapshots-*.jsonl"))
        for line in file.read_text().splitlines()
    ]


def test_each_server_is_reported_separately(tmp_path):
    service = Service(
        servers(tmp_path), tmp_path / "spool", tmp_path / "state", Schedule(), tmp_path / "beat"
    )
    assert not service.once()

    records = {record["instance"]: record for record in spooled(tmp_path / "spool")}
    assert {name: record["status"] for name, record in records.items()} == {
        "port": "failed",
        "option": "failed",
        "authority": "failed",
        "password": "failed",
        "away": "gone",
    }
    assert "port of the address" in records["port"]["error"]
    assert "unknown option 'ssl'" in records["option"]["error"]
    assert "none.pem cannot be read" in records["authority"]["error"]
    assert "password file" in records["password"]["error"]
    for record in records.values():
        assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(record)] == []
    heartbeats = json.loads((tmp_path / "beat").read_text())
    assert all(heartbeat["away"] and heartbeat["problem"] for heartbeat in heartbeats.values())
    assert heartbeats.keys() == records.keys()


def test_a_full_disk_ends_no_thread(tmp_path):
    """Neither the spool nor the heartbeat can be written."""
    service = Service(
        servers(tmp_path), tmp_path / "spool", tmp_path / "state", Schedule(), tmp_path / "none" / "beat"
    )
    (tmp_path / "spool").rmdir()
    assert not service.once()
    (tmp_path / "spool").mkdir()
    assert not service.once()
    assert {record["instance"] for record in spooled(tmp_path / "spool")} >= {"port", "away"}


def test_a_problem_with_explain_is_reported_once_and_after_each_change(tmp_path):
    def none(instance: str, limit: int, kept: Mapping[str, str]) -> list[Sample]:
        if (tmp_path / "samples").exists():
            return []
        raise SamplesError(f"no samples of {instance}")

    service = ExplainService(
        servers(tmp_path)[-1:], none, tmp_path / "spool", tmp_path / "state", Limits(), tmp_path / "beat"
    )
    assert not service.once()
    assert not service.once()
    assert "no samples of away" in json.loads((tmp_path / "beat").read_text())["away"]["problem"]
    (tmp_path / "samples").touch()
    assert service.once()

    records = spooled(tmp_path / "spool")
    assert [(record["kind"], record["status"]) for record in records] == [
        ("explain", "failed"),
        ("explain", "ok"),
    ]
    for record in records:
        assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(record)] == []
    assert not json.loads((tmp_path / "beat").read_text())["away"]["away"]


def test_a_statement_is_explained_in_the_database_it_was_explained_in(tmp_path):
    """Also after a restart, for a week, and also while its next plan is not due."""
    asked = []

    def some(instance: str, limit: int, kept: Mapping[str, str]) -> list[Sample]:
        asked.append(kept)
        return [Sample("A" * 16, "small", "SELECT 1")]

    now = time.time()
    states = {"A" * 16: (now - 60, "large"), "B" * 16: (now - 6 * 86_400, "shop"), "C" * 16: (now, "")}
    states |= {"D" * 16: (now - 8 * 86_400, "forgotten")}
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "explain-0.json").write_text(json.dumps(states))
    service = ExplainService(
        servers(tmp_path)[-1:], some, tmp_path / "spool", tmp_path / "state", Limits(interval=3600)
    )
    assert service.once()  # nothing is due: the unreachable server is not contacted
    assert asked == [{"A" * 16: "large", "B" * 16: "shop"}]


def test_a_state_of_an_earlier_version_is_forgotten(tmp_path):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "explain-0.json").write_text(json.dumps({"A" * 16: time.time()}))
    service = ExplainService(
        servers(tmp_path)[-1:], lambda *_: [], tmp_path / "spool", tmp_path / "state", Limits()
    )
    assert service.once()


@pytest.mark.parametrize(
    "text", ["{", "[1]", '[{"instance": "a"}]', '[{"instance": "a", "dsn": "x", "pw": 1}]']
)
def test_an_invalid_list_is_refused(tmp_path, text):
    (tmp_path / "servers.json").write_text(text)
    with pytest.raises(ConfigurationError, match="expected a JSON list of servers"):
        targets.from_file(tmp_path / "servers.json")
