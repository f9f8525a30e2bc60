"""The page Evidence over HTTP: gaps, rows, an export, its verification, and a signed review."""

import csv
import io
import re
import time
import uuid
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dashboards.tests.inserted_rows import rows_of
from dashboards.tests.pages import Visitor, parsed
from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack
from tailrace.evidence import framework, signing
from tailrace_pages.evidence import gaps
from tailrace_verify.evidence import verify

pytestmark = pytest.mark.browser

INSTANCE, NEVER = "pages-evidence", "pages-listed"
"""A server with a log, and one that sources.yaml lists and that never sent anything."""
MINUTES = 60
UNSEEN = range(20, 30)
FIRST = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=35)
PERIOD = {"from": f"{FIRST:%Y-%m-%dT%H:%MZ}", "to": f"{FIRST + timedelta(minutes=MINUTES):%Y-%m-%dT%H:%MZ}"}
"""Long ago, so that no other test has rows of it."""
EVIL = "=cmd|'<script>'!A0"


def at(minute: float) -> str:
    return f"{FIRST + timedelta(minutes=minute):%Y-%m-%d %H:%M:%S.%f}"


@pytest.fixture(scope="module")
def planted(stack: Stack) -> Iterator[Stack]:
    """Rows of one server, which are deleted afterwards."""
    whose = {"cluster": "shop", "instance": INSTANCE, "source": "audit", "log": "/a.log", "generation": 1}
    census = [
        {**whose, "kind": "CENSUS", "inode": 7, "size": 100, "at": at(minute + 0.5)}
        for minute in range(MINUTES + 1)
        if minute not in UNSEEN
    ]
    read = {**whose, "kind": "FRONTIER", "inode": 7, "to_offset": 100, "at": at(0.5)}
    refused = {**whose, "event_class": "connection", "command": "FAILED_CONNECT", "status": 1045}
    logins = [
        {**refused, "event_id": str(uuid.uuid4()), "user": EVIL, "event_time": at(minute)}
        for minute in (3, 4)
    ]
    listed = {"cluster": "shop", "instance": NEVER, "source": "audit", "log": "/b.log", "host": "box"}
    entries = [{**listed, "action": "listed", "at": at(-60)}, {**listed, "action": "removed", "at": at(30)}]
    with (
        rows_of(stack, INSTANCE, {"ledger": [*census, read], "audit_events": logins}),
        rows_of(stack, NEVER, {"listed_logs": entries}),
    ):
        yield stack


@pytest.fixture(scope="module")
def visitor(planted: Stack, visitors) -> Visitor:
    return visitors["compliance"]


def page(visitor: Visitor, path: str = "/tailrace/evidence/", **arguments: str) -> str:
    answer = visitor.get(path, **{**PERIOD, **arguments})
    assert answer.status_code == 200, answer.text
    return answer.text


def text(html: str) -> str:
    return " ".join(" ".join(parsed(html).words).split())


@pytest.mark.parametrize("name", framework.names())
def test_gaps_come_before_the_requirements(visitor, name):
    shown = text(page(visitor, framework=name))
    known = framework.load(name)
    gaps, requirements = shown.index("Gaps of the period"), shown.index("Results and rows")
    assert gaps < shown.index(INSTANCE) < requirements
    assert all(each.id in shown[requirements:] for each in known.requirements)
    assert known.not_covered[:40] in shown


def test_minutes_without_audit_are_counted_by_server(visitor):
    cells = text(page(visitor)).partition(INSTANCE)[2].split()
    numbers = [word for word in cells[:12] if word.isdecimal()]
    assert numbers[:4] == [
        "0",
        str(len(UNSEEN)),
        "0",
        str(MINUTES - len(UNSEEN)),
    ]  # missing, unknown, behind, watched


def test_a_listed_server_that_never_sent_anything_is_not_missing(visitor):
    shown = text(page(visitor))
    row = shown.partition(NEVER)[2]
    assert row.startswith(
        f" listed audit log never arrived unknown {MINUTES} unknown 0 unknown {at(-60)[:16]}"
    )
    # Other modules leave servers, whose names may contain ends of lines.
    listed = list(csv.DictReader(io.StringIO(page(visitor, format="csv"))))
    unaudited = [each["Audit status"] for each in listed if each["Audit status"] in gaps.NOT_AUDITED]
    assert "listed audit log never arrived" in unaudited
    assert f"Servers without audit {len(unaudited)} of {len(listed)}" in shown
    servers = list(
        csv.DictReader(page(visitor, "/tailrace/evidence/pci/servers/", format="csv").splitlines())
    )
    (never,) = (row for row in servers if NEVER in row.values())
    assert never["Removed from list at (UTC)"] == f"{FIRST + timedelta(minutes=30):%Y-%m-%dT%H:%M:%SZ}"


def test_rows_their_number_and_their_csv(visitor):
    path = "/tailrace/evidence/pci/refused_access/"
    html = page(visitor, path)
    assert EVIL in text(html) and "<script>" not in html
    assert visitor.get(f"{path}count", **PERIOD).json() == {"rows": 2}
    lines = page(visitor, path, format="csv").splitlines()
    assert len(lines) == 3 and all(f"'{EVIL}" in line for line in lines[1:])
    assert "No rule fired." in text(page(visitor, "/tailrace/evidence/sox/alerts/"))
    # The names of these columns do not say from which logs and of which time they are.
    counts = framework.result("log_integrity").counts
    assert counts and counts in text(page(visitor, "/tailrace/evidence/pci/log_integrity/"))


@pytest.mark.parametrize(
    "path",
    [
        "/tailrace/evidence/exports/" + "f" * 32 + "/",
        "/tailrace/evidence/exports/" + "f" * 32 + "/bundle",
        "/tailrace/evidence/exports/%2e%2e/",
        "/tailrace/evidence/verifications/" + "f" * 32 + "/",
        "/tailrace/evidence/pci/secrets/",
    ],
)
def test_unknown_ids_are_not_found(visitor, path):
    assert visitor.get(path).status_code == 404


@pytest.mark.parametrize(
    "arguments", [{"framework": "forged"}, {"from": "now"}, {"from": PERIOD["to"], "to": PERIOD["from"]}]
)
def test_wrong_addresses_have_a_sentence(visitor, arguments):
    answer = visitor.get("/tailrace/evidence/", **arguments)
    assert answer.status_code == 400 and len(text(answer.text)) > 40


@pytest.fixture(scope="module")
def progress(visitor, planted) -> str:
    """The address of an export that a person started, when it is done."""
    form = {"framework": "sox", **PERIOD}
    answer = visitor.submit("/tailrace/evidence/exports/", form, "/tailrace/evidence/")
    assert answer.status_code == 303
    address, limit = answer.headers["Location"], time.monotonic() + LIMIT_SECONDS
    while "Download" not in (html := visitor.get(address).text):
        assert time.monotonic() < limit and "failed" not in text(html), text(html)
        time.sleep(0.5)
    assert 'http-equiv="refresh"' not in html
    return address


@pytest.fixture(scope="module")
def exported(visitor, progress, tmp_path_factory) -> Path:
    """The bundle that a person exported and downloaded."""
    download = visitor.get(f"{progress}bundle")
    assert download.headers["Content-Type"] == "application/zip"
    path = tmp_path_factory.mktemp("bundle") / "evidence.zip"
    path.write_bytes(download.content)
    return path


def test_the_page_of_an_export_verifies_its_bundle(visitor, progress):
    path = f"{progress}verification"
    assert f'action="{path}"' in visitor.get(progress).text
    answer = visitor.submit(path, {}, "/tailrace/evidence/")
    assert answer.status_code == 303
    shown = text(visitor.get(answer.headers["Location"]).text)
    assert "Unchanged since its export by this installation" in shown
    assert shown.count("passed") == 3 and "failed" not in shown


def test_an_export_is_signed_and_recorded_under_the_name_of_the_person(exported, planted):
    key = signing.installation_key(planted.home).public_key()
    found = verify(exported, key)
    assert found.faults == [] and found.about["exported_by"] == "compliance"
    rows = planted.clickhouse().rows(
        "SELECT actor, framework, account FROM tailrace.evidence_exports "
        "WHERE manifest_sha256 = {sum:String}",
        {"sum": found.manifest_sha256},
    )
    assert rows == [{"actor": "compliance", "framework": "sox", "account": "auditor"}]


def upload(visitor: Visitor, bundle: bytes) -> str:
    """Uploads a bundle, and returns the text of the page with the checks."""
    answer = visitor.session.post(
        f"{visitor.address}/tailrace/evidence/verifications/",
        {"csrf_token": visitor.own_token()},
        files={"bundle": ("evidence.zip", io.BytesIO(bundle))},
        headers={"Referer": f"{visitor.address}/tailrace/evidence/"},
        timeout=LIMIT_SECONDS,
    )
    assert answer.history[0].status_code == 303 and answer.status_code == 200
    return text(answer.text)


def test_an_unchanged_bundle_is_verified(visitor, exported):
    shown = upload(visitor, exported.read_bytes())
    assert "Unchanged since its export by this installation" in shown
    assert shown.count("passed") == 3 and "failed" not in shown


def test_a_changed_bundle_is_not(visitor, exported):
    changed = io.BytesIO()
    with zipfile.ZipFile(exported) as source, zipfile.ZipFile(changed, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name) + (b" " if name == "README.txt" else b""))
    shown = upload(visitor, changed.getvalue())
    assert "The bundle differs from the export" in shown and "failed" in shown


def test_a_file_is_needed_to_verify(visitor):
    answer = visitor.submit("/tailrace/evidence/verifications/", {})
    assert answer.status_code == 303
    assert "choose a bundle first" in text(visitor.get(answer.headers["Location"]).text)


def reviews(stack: Stack, finding: str) -> list[dict]:
    return stack.clickhouse().rows(
        "SELECT actor, scope, covers, toString(period_from) AS since FROM tailrace.reviews "
        "WHERE finding = {finding:String}",
        {"finding": finding},
    )


def test_a_review_is_signed_under_the_name_of_the_person(visitor, planted):
    finding = f"2 refused logins <b> {uuid.uuid4()}"
    form = {**PERIOD, "framework": "pci", "finding": finding, "covers": "all servers", "actor": "forged"}
    answer = visitor.submit("/tailrace/evidence/reviews/", form)
    assert answer.status_code == 303
    shown = text(visitor.get(answer.headers["Location"]).text)
    assert f"compliance signed the review from {FIRST:%Y-%m-%d %H:%M} to" in shown and finding in shown
    assert "(UTC) of all servers." in shown
    (row,) = reviews(planted, finding)
    expected = {"scope": "all servers and logs", "covers": "all servers", "since": at(0)[:19]}
    assert row == {"actor": "compliance", **expected}


def test_the_page_keeps_its_period_when_a_review_of_another_one_is_signed(visitor):
    page = visitor.get("/tailrace/evidence/", **{"from": "2026-01-02T00:00Z", "to": "2026-01-09T00:00Z"}).text
    fields = dict(re.findall(r'name="(shown_[a-z]+)" value="([^"]*)"', page))
    form = {**PERIOD, **fields, "framework": "sox", "finding": "", "covers": "all servers"}
    address = visitor.submit("/tailrace/evidence/reviews/", form).headers["Location"]
    assert address.endswith("?framework=sox&from=2026-01-02T00:00:00Z&to=2026-01-09T00:00:00Z")


def test_a_review_needs_a_finding_and_a_token(visitor, planted):
    finding = f"forged {uuid.uuid4()}"
    assert visitor.post("/tailrace/evidence/reviews/", {**PERIOD, "finding": finding}).status_code != 303
    assert reviews(planted, finding) == []
    answer = visitor.submit("/tailrace/evidence/reviews/", {**PERIOD, "finding": "", "covers": "all servers"})
    assert "the finding is missing" in text(visitor.get(answer.headers["Location"]).text)
