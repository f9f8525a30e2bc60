"""Every framework exports a bundle through the evidence service's queue; all share one small database."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from clickhouse_servers import Server
from compliance_rows import access, event, written
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from e2e.limits import LIMIT_SECONDS
from tailrace.clickhouse.client import ClickHouse
from tailrace.evidence import framework
from tailrace.evidence.period import Period
from tailrace.evidence.service.exports import DONE, Exports, ExportState
from tailrace_verify.evidence import verify

KEY = Ed25519PrivateKey.generate()
END = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1)
PERIOD = Period(END - timedelta(days=1), END)
AT = written(END - timedelta(hours=6))
SENSITIVE = {"data_class": ["pii"], "data_class_read": ["pii"]}


@pytest.fixture(scope="module")
def planted(_migrated: ClickHouse) -> ClickHouse:
    _migrated.insert("tailrace.data_access", [access("a1", AT, **SENSITIVE)])
    refused = {"event_class": "connection", "command": "FAILED_CONNECT", "status": 1045}
    _migrated.insert("tailrace.audit_events", [{**event(2, "mallory", **refused), "event_time": AT}])
    return _migrated


@pytest.fixture(scope="module")
def exports(planted, server: Server, tmp_path_factory) -> Exports:
    return Exports(tmp_path_factory.mktemp("exports"), server.user("auditor"), KEY, print)


def ended(exports: Exports, number: str) -> ExportState:
    limit = time.monotonic() + LIMIT_SECONDS
    while not (state := exports.state(number)).has_ended:
        assert time.monotonic() < limit, state
        time.sleep(0.1)
    return state


@pytest.mark.parametrize(
    "name", ["gdpr", "hipaa", "iso27001"]
)  # test_evidence.py: pci, test_pages_evidence.py: sox
def test_a_bundle_contains_the_results_of_its_framework(name, exports, planted, tmp_path: Path):
    known = framework.load(name)
    state = ended(exports, exports.request(name, PERIOD, "ines"))
    assert (state.state, state.error, state.steps_done) == (DONE, "", state.steps)
    found = verify(exports.bundle(state), KEY.public_key())
    files = {entry["name"] for entry in found.about["files"]}
    assert found.faults == [] and found.manifest_sha256 == state.manifest_sha256
    assert {f"results/{result}.csv" for result in known.results} <= files
    (row,) = planted.rows(
        "SELECT actor, file FROM tailrace.evidence_exports WHERE framework = {name:String}", {"name": name}
    )
    assert row == {"actor": "ines", "file": state.file}


def test_the_class_of_a_framework_selects_its_accesses(planted, server: Server):
    result = framework.load("gdpr").results["sensitive_access"]
    for class_, rows in (("pii", 1), ("pci", 0)):
        parameters = {**PERIOD.parameters(), "class": class_}
        assert len(server.user("auditor").rows(result.statement(), parameters)) == rows
