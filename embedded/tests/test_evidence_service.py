"""The evidence service on its socket: what it refuses, verifies, and keeps when exports fail."""

import io
import json
import stat
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from e2e.limits import LIMIT_SECONDS
from tailrace.clickhouse.client import ClickHouse
from tailrace.evidence import archive, signing
from tailrace.evidence.period import Period
from tailrace.evidence.service import exports as export_queue
from tailrace.evidence.service.client import EvidenceService, NoServiceError, ServiceError
from tailrace.evidence.service.exports import FAILED, INTERRUPTED, KEPT, RUNNING, Exports, ExportState
from tailrace.evidence.service.server import MAX_TEXT, Server, Service
from tailrace.evidence.service.verification import verification
from tailrace.retention import holds

KEY, OTHER_KEY = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
NO_CLICKHOUSE = ClickHouse("http://127.0.0.1:9")
PAST = ("2026-10-01", "2026-10-02")
DAY = Period(datetime(2026, 10, 1, tzinfo=UTC), datetime(2026, 10, 2, tzinfo=UTC))


def exports_in(directory: Path) -> Exports:
    return Exports(directory, NO_CLICKHOUSE, KEY, lambda line: None)


@pytest.fixture
def service(tmp_path) -> Iterator[EvidenceService]:
    (tmp_path / "access.yaml").write_text("security: {clusters: [shop]}\n")
    path = tmp_path / ("a deep directory " * 7) / "evidence.sock"
    path.parent.mkdir()
    its = Service(NO_CLICKHOUSE, KEY, exports_in(tmp_path / "exports"), tmp_path / "access.yaml", tmp_path)
    with Server(path, its) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}).start()
        yield EvidenceService(path)
        server.shutdown()


def refusal(request, *arguments) -> tuple[int, str]:
    with pytest.raises(ServiceError) as found:
        request(*arguments)
    return found.value.status, str(found.value)


def ended(service: EvidenceService, number: str) -> dict:
    limit = time.monotonic() + LIMIT_SECONDS
    while (state := service.export(number))["state"] not in ("done", "failed"):
        assert time.monotonic() < limit, state
        time.sleep(0.05)
    return state


def bundle(path: Path, key: Ed25519PrivateKey = KEY) -> Path:
    content = path.with_suffix(".content")
    content.mkdir()
    (content / "report.html").write_text("<h1>Evidence</h1>")
    (content / archive.PUBLIC_KEY).write_bytes(signing.public_pem(key))
    text = archive.manifest(content, {"framework": "pci", "exported_by": "ines"})
    (content / archive.MANIFEST).write_bytes(text)
    (content / archive.SIGNATURE).write_bytes(key.sign(text))
    archive.write(content, archive.files_of(content), path)
    return path


def test_only_its_user_can_open_the_socket(service):
    assert stat.S_IMODE(service._path.stat().st_mode) == 0o600
    assert service.status()["key_fingerprint"] == signing.fingerprint(KEY.public_key())
    assert service.exports() == []


def test_a_missing_service_is_named(tmp_path):
    with pytest.raises(NoServiceError, match="does not answer"):
        EvidenceService(tmp_path / "evidence.sock").status()


@pytest.mark.parametrize(
    ("wanted", "status", "message"),
    [
        (("unlisted", *PAST, "ines", "compliance"), 400, "there is no framework 'unlisted'"),
        (("pci", "2026-10-02", "2026-10-01", "ines", "compliance"), 400, "not before"),
        (("pci", "", "", "ines", "compliance"), 400, "expected a date"),
        (("pci", *PAST, " ", "compliance"), 400, "a name is missing"),
        (("pci", *PAST, "x" * (MAX_TEXT + 1), "compliance"), 400, "actor must be a text"),
        (("pci", *PAST, "sam", "security"), 403, "access.yaml"),
    ],
)
def test_refused_exports(service, wanted, status, message):
    found, text = refusal(service.start, *wanted)
    assert found == status and message in text
    assert service.exports() == []


def test_unknown_exports_have_no_state_and_no_bundle(service):
    assert refusal(service.export, "../../secrets")[0] == 404
    assert refusal(service.bundle("f" * 32, "compliance").__enter__)[0] == 404
    assert refusal(service.verification, "f" * 32)[0] == 404


def test_a_failed_export_states_why_and_the_next_one_runs(service):
    first = service.start("gdpr", *PAST, "ines", "compliance")
    second = service.start("sox", *PAST, "ines", "compliance")
    for number in (first, second):
        state = ended(service, number)
        assert state["state"] == FAILED and "refused" in state["error"].lower()
        assert refusal(service.bundle(number, "compliance").__enter__)[0] == 409
    assert [state["id"] for state in service.exports()] == [second, first]


def test_a_restricted_audience_does_not_read_the_bundles_of_others(service):
    number = service.start("gdpr", *PAST, "ines", "compliance")
    assert service.readable(number, "compliance")["id"] == number
    for request in (service.readable, lambda *given: service.bundle(*given).__enter__()):
        status, text = refusal(request, number, "security")
        assert status == 403 and "access.yaml" in text


REVIEW = {
    "actor": "ines",
    "audience": "compliance",
    "from": PAST[0],
    "to": PAST[1],
    "finding": "none",
    "scope": "",
    "corrects": "",
    "covers": "all servers",
}


def test_a_review_needs_a_finding_and_clickhouse(service):
    assert refusal(service.sign, {**REVIEW, "finding": " "}) == (400, "the finding is missing")
    assert refusal(service.sign, REVIEW)[0] == 502


@pytest.mark.parametrize(
    ("changed", "servers", "status", "message"),
    [
        ({"covers": ""}, (), 400, "the reviewed servers are missing"),
        ({"covers": "some servers"}, ("db1",), 400, "the reviewed servers are missing"),
        ({"covers": "named servers"}, (), 400, "choose either all servers"),
        ({}, ("db1",), 400, "choose either all servers"),
        ({"audience": "security"}, (), 403, "name the servers"),
    ],
)
def test_a_review_states_its_servers(service, changed, servers, status, message):
    found, text = refusal(service.sign, {**REVIEW, **changed, "servers": servers})
    assert found == status and message in text


HOLD = {"actor": "ines", "audience": "compliance", "case": "7", "selector": "user:etl", "reason": "a letter"}
RELEASE = {"actor": "ines", "audience": "compliance", "hold": "f" * 32, "step": "place", "reason": "closed"}


@pytest.mark.parametrize(
    ("changed", "status", "message"),
    [
        ({"case": " "}, 400, "the case is missing"),
        ({"reason": ""}, 400, "the reason is missing"),
        ({"actor": ""}, 400, "a name is missing"),
        ({"selector": "color:red"}, 400, "expected KEY:VALUE"),
        ({"audience": "security"}, 403, "access.yaml"),
        ({"hold": "x"}, 400, "32 hexadecimal digits"),
        ({}, 502, "refused"),
    ],
)
def test_refused_holds(service, changed, status, message):
    found, text = refusal(service.place_hold, {**HOLD, **changed})
    assert found == status and message in text


def test_a_restricted_audience_may_not_hold(service):
    service.require_may_hold("compliance")
    status, text = refusal(service.require_may_hold, "security")
    assert status == 403 and "access.yaml" in text


@pytest.mark.parametrize(
    ("changed", "status", "message"),
    [
        ({}, 400, "there is no step 'place'"),
        ({"reason": " "}, 400, "the reason is missing"),
        ({"audience": "security"}, 403, "access.yaml"),
        ({"step": holds.CONFIRM}, 502, "refused"),
    ],
)
def test_refused_releases_of_holds(service, changed, status, message):
    found, text = refusal(service.release_hold, {**RELEASE, **changed})
    assert found == status and message in text


def test_a_verification_states_each_check(service, tmp_path):
    whole = bundle(tmp_path / "whole.zip")
    with whole.open("rb") as file:
        found = service.verification(service.verify(file, whole.stat().st_size))
    assert found["unchanged"] and found["own_key"]
    assert [check["faults"] for check in found["checks"]] == [[], [], []]
    assert found["about"]["exported_by"] == "ines" and "files" not in found["about"]


def test_a_changed_bundle_has_faults_in_one_check(tmp_path):
    whole = bundle(tmp_path / "whole.zip")
    (tmp_path / "whole.content" / "report.html").write_text("<h1>evidence</h1>")
    changed = tmp_path / "changed.zip"
    archive.write(tmp_path / "whole.content", archive.files_of(tmp_path / "whole.content"), changed)
    found = verification(changed, KEY.public_key())
    assert not found["unchanged"] and found["own_key"]
    assert [len(check["faults"]) for check in found["checks"]] == [0, 0, 1]
    assert verification(whole, KEY.public_key())["unchanged"]


def test_a_bundle_with_another_key_is_unchanged_but_not_ours(tmp_path):
    found = verification(bundle(tmp_path / "other.zip", OTHER_KEY), KEY.public_key())
    assert found["unchanged"] and not found["own_key"]
    assert found["key_fingerprint"] == signing.fingerprint(OTHER_KEY.public_key())


def test_a_file_that_is_no_bundle(service):
    found = service.verification(service.verify(io.BytesIO(b"no zip"), 6))
    assert not found["unchanged"] and "cannot be read" in found["checks"][0]["faults"][0]


def test_a_bundle_that_unpacks_to_too_much_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("tailrace.evidence.service.verification.MAX_UNPACKED_BYTES", 10)
    found = verification(bundle(tmp_path / "large.zip"), KEY.public_key())
    assert [check["name"] for check in found["checks"]] == ["The size of the bundle"]
    assert not found["unchanged"]


def test_an_upload_above_the_limit_is_refused(service, monkeypatch):
    monkeypatch.setattr("tailrace.evidence.service.server.MAX_UPLOAD_BYTES", 5)
    assert refusal(service.verify, io.BytesIO(b"no zip"), 6)[0] == 413


def stored(directory: Path, number: int, **values: object) -> ExportState:
    at = f"2026-10-01T00:00:{number:02}+00:00"
    state = ExportState(f"{number:032x}", "pci", *PAST, "ines", at)
    state = replace(state, **values)
    (directory / state.id).mkdir(parents=True)
    (directory / state.id / "state.json").write_text(json.dumps(asdict(state)))
    return state


def test_an_export_that_the_end_of_the_service_interrupted_has_failed(tmp_path):
    running = stored(tmp_path, 1, state=RUNNING)
    found = exports_in(tmp_path).state(running.id)
    assert (found.state, found.error) == (FAILED, INTERRUPTED)


def test_old_exports_are_deleted(tmp_path):
    for number in range(KEPT + 3):
        stored(tmp_path, number, state=FAILED)
    kept = exports_in(tmp_path)
    kept._forget_old()
    assert len(kept.states()) == KEPT == len([*tmp_path.iterdir()])
    assert kept.states()[0].id == f"{KEPT + 2:032x}"


def test_no_more_exports_wait_than_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(export_queue, "MAX_WAITING", 0)
    with pytest.raises(export_queue.TooManyError, match="are waiting"):
        exports_in(tmp_path).request("pci", DAY, "ines")
