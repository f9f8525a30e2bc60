"""Tests evidence of planted rows: compares a bundle with the planted rows, not with other queries."""

import csv
import errno
import io
import json
import os
import re
import resource
import signal
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pyarrow import parquet

from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.evidence import framework, results, reviews
from tailrace.evidence.export import EvidenceError, Exported, Exporter
from tailrace.evidence.period import Period
from tailrace.evidence.reviews import Review
from tailrace.migrations.runner import load_retention
from tailrace_verify.evidence import verify

DAYS = 2
END = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1)
FIRST = END - timedelta(days=DAYS)
PERIOD = Period(FIRST, END)
MINUTES = DAYS * 1440
PCI = framework.load("pci")
BRIEF = replace(
    PCI,
    results={name: PCI.results[name] for name in (*PCI.coverage, "refused_access")},
    requirements=[each for each in PCI.requirements if each.results == ["refused_access"]],
)
"""The coverage and one requirement: four queries instead of 22, for tests that read no other result."""
CUTS = re.compile(r"\bleft(?!Pad\b)\w*\(")
KEY = Ed25519PrivateKey.generate()

UNSEEN = range(600, 630)
"""Minutes of db1's audit log without a census."""
LOST = 700
"""The minute with lost bytes."""
LINE = 100
"""Growth of the log per minute in bytes."""

GRANT = 11
"""Query ids."""
CREATE = 12
SELECT = 13
AUDIT_OFF = 14
FINGERPRINTS = {
    GRANT: "grant all on *.* to ?@? with grant option",
    CREATE: "create table shop.t (id int)",
    SELECT: "select pan from shop.cards where id = ?",
    AUDIT_OFF: "set global server_audit_logging = off",
}
LONG = "SELECT (" + ", ".join(f"column_{n:04}" for n in range(1_000)) + ")"
"""A list of privileges, 13 kB."""


def text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S.%f}"


def at(minute: float) -> datetime:
    return FIRST + timedelta(minutes=minute)


def audit(minute: float, user: str, command: str = "QUERY", **more) -> dict:
    return {
        "event_id": str(uuid.uuid4()),
        "cluster": "shop",
        "instance": "db1",
        "source": "audit",
        "log": "/log/audit.log",
        "generation": 1,
        "format": "mariadb-audit",
        "event_time": text(at(minute)),
        "event_class": "connection" if "CONNECT" in command else "query",
        "command": command,
        "user": user,
        "ip": "10.0.0.7",
        **more,
    }


def access(minute: float, user: str, action: str, **more) -> dict:
    return {
        "event_id": str(uuid.uuid4()),
        "action_id": action,
        "event_time": text(at(minute)),
        "cluster": "shop",
        "instance": "db1",
        "user": user,
        "src_ip": "10.0.0.7",
        "program": "mysql",
        "tables": ["shop.cards"],
        "data_class": ["pci"],
        "data_class_read": ["pci"],
        "basis": ["statement"],
        "mode": "read",
        "verb": "SELECT",
        "outcome": "success",
        **more,
    }


AUDIT = [
    audit(5, "app", "CONNECT"),
    audit(6, "app", query_id=SELECT, verb="SELECT", tables_read=["shop.cards"]),
    audit(10, "mallory", "FAILED_CONNECT", status=1045),
    audit(11, "app", status=1142, verb="SELECT"),
    audit(20, "root", query_id=GRANT, verb="GRANT"),
    audit(21, "ops", query_id=CREATE, verb="CREATE", tables_written=["shop.t"]),
    audit(22, "root", query_id=AUDIT_OFF, verb="SET"),
    audit(23, "app", tables_read=["mysql.general_log"], verb="SELECT", ip="", host="::ffff:10.0.0.7"),
    audit(-1, "before", "CONNECT"),
    audit(MINUTES, "after", "CONNECT"),
    audit(24, "=cmd|' /C calc'!A0", "FAILED_CONNECT", status=1045, host='<b>\u202eevil</b>,\n"quoted"'),
]
ACCESS = [
    access(6, "app", "a1", rows_sent=3),
    access(6, "app", "a1"),  # another log's view of it
    access(6, "app", "a1", data_class=[], data_class_read=[], basis=["unknown"]),  # and a third one's
    access(7, "app", "a2", data_class_read=[], data_class_written=["pci"], mode="write", verb="UPDATE"),
    access(8, "batch", "a3", data_class=[], data_class_read=[], basis=["unknown"], tables=[]),
    access(9, "app", "a4", data_class=["pii"], data_class_read=["pii"]),
    access(-1, "before", "a5"),
    access(MINUTES, "after", "a6"),
]


def facts(kind: str, key: str, since: datetime, seen: datetime, **attributes: str) -> dict:
    whose = {"cluster": "shop", "instance": "db1", "kind": kind, "key": key}
    return {**whose, "since": text(since)[:-3], "last_seen": text(seen)[:-3], "attributes": attributes}


def snapshot(kind: str, moment: datetime, instance: str = "db1") -> dict:
    known = {"product": "mariadb", "version": "10.11", "status": "ok", "part": 1, "parts": 1}
    return {"cluster": "shop", "instance": instance, "kind": kind, "at": text(moment)[:-3], **known}


FACTS = [
    facts(
        "accounts", "'app'@'10.%'", at(0), at(MINUTES - 1), user="app", host="10.%", role="no", locked="no"
    ),
    facts("accounts", "'idle'@'%'", at(0), at(MINUTES - 1), user="idle", host="%", role="no", locked="no"),
    facts("grants_tables", "t", at(0), at(MINUTES - 1), grantee="'idle'@'%'", object="t", privileges=LONG),
    facts("accounts", "'gone'@'%'", at(0), at(10), user="gone", host="%", role="no", locked="no"),
    facts(
        "grants_global",
        "'ops'@'%' global *.*",
        at(0),
        at(MINUTES - 1),
        grantee="'ops'@'%'",
        level="global",
        object="*.*",
        privileges="CREATE USER, SELECT",
        grant_option="no",
    ),
]


def message(minute: float, kind: str, **details: str) -> dict:
    row = {"event_id": str(uuid.uuid4()), "instance": "db2", "source": "errorlog", "kind": kind}
    return {**row, "event_time": text(at(minute)), "user": "guest", "code": "MY-010926", "details": details}


ERRORS = [
    message(40, "access_denied"),
    message(41, "server_state", state="shutdown"),
    message(42, "server_state", state="recovery"),
    message(43, "deadlock"),
    message(MINUTES, "access_denied"),
]
CHANGES = [
    {
        "instance": "db1",
        "kind": kind,
        "key": key,
        "at": text(at(50))[:-3],
        "change": "changed",
        "before": {"value": "ON"},
        "after": {"value": after},
    }
    for kind, key, after in [
        ("settings", "server_audit_logging", "OFF"),
        ("settings", "max_connections", "OFF"),
        ("roles", "'r'", LONG),
    ]
]
ALERT = str(uuid.UUID(int=77))
ALERTS = [
    {"alert_id": ALERT, "rule_title": "Refused login", "event_time": text(at(60)), "level": "high"},
    {
        "alert_id": str(uuid.UUID(int=78)),
        "rule_title": "Late",
        "event_time": text(at(MINUTES)),
        "level": "low",
    },
]
ACTIONS = [{"alert_id": ALERT, "actor": "erin", "action": "close", "reason": "a typing error"}]


def ledger() -> list[dict]:
    """db1's audit log, a line a minute, and db2's slow log, of which every minute was seen."""
    rows = []
    for instance, source in (("db1", "audit"), ("db2", "slowlog")):
        file = {"cluster": "shop", "instance": instance, "source": source, "log": f"/log/{source}.log"}
        file |= {"generation": 1, "stage": "FRAMER", "inode": 7}
        unseen = UNSEEN if instance == "db1" else ()
        observed = [minute for minute in range(-2, MINUTES + 2) if minute not in unseen]
        rows += [
            {**file, "kind": "CENSUS", "size": LINE * (m + 3), "at": text(at(m + 0.5))} for m in observed
        ]
        end = LINE * (MINUTES + 5)
        rows.append(
            {**file, "kind": "FRONTIER", "from_offset": end, "to_offset": end, "at": text(at(MINUTES))}
        )
        if instance == "db1":
            lost = {
                "from_offset": LINE * (LOST + 2),
                "to_offset": LINE * (LOST + 3),
                "bytes": LINE,
                "count": 1,
            }
            rows.append({**file, "kind": "GAP", "detail": "lost", **lost, "at": text(at(LOST + 1))})
    return rows


@pytest.fixture(scope="module")
def planted(_migrated: ClickHouse) -> ClickHouse:
    texts = [
        {"query_id": id_, "fingerprint": words, "seen_at": text(FIRST)} for id_, words in FINGERPRINTS.items()
    ]
    snapshots = [snapshot(kind, at(MINUTES - 1)) for kind in ("accounts", "grants_global", "grants_tables")]
    snapshots.append(snapshot("server", at(30), "db3"))
    planted = {
        "audit_events": AUDIT,
        "data_access": ACCESS,
        "fingerprints": texts,
        "ledger": ledger(),
        "error_events": ERRORS,
        "server_changes": CHANGES,
        "alerts": ALERTS,
        "alert_actions": ACTIONS,
        "server_facts": FACTS,
        "server_snapshots": snapshots,
    }
    for table, rows in planted.items():
        _migrated.insert(f"tailrace.{table}", rows)
    return _migrated


def export(server, directory: Path, period: Period = PERIOD, of: framework.Framework = PCI) -> Exported:
    return Exporter(server.user("auditor"), KEY, "ines").export(of, period, directory / "evidence.zip")


def rows_of(path: Path, name: str) -> list[dict[str, str]]:
    with zipfile.ZipFile(path) as bundle:
        return list(csv.DictReader(io.StringIO(bundle.read(f"results/{name}.csv").decode(), newline="")))


@pytest.fixture(scope="module")
def bundle(planted, server, tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("bundle")
    auditor = server.user("auditor")
    wrong = reviews.sign(auditor, Review("ines", PERIOD, "nothing"))
    reviews.sign(auditor, Review("ines", Period(FIRST, at(1440)), "2 refused logins", corrects=wrong))
    export(server, directory)
    return directory / "evidence.zip"


def test_each_result_holds_what_was_planted_and_nothing_else(bundle):
    def users(name: str, column: str = "user") -> list[str]:
        return sorted(row[column] for row in rows_of(bundle, name))

    evil = "=cmd|' /C calc'!A0"
    assert [
        (row["user"], row["access"], row["sent_rows"]) for row in rows_of(bundle, "cardholder_access")
    ] == [
        ("app", "read", "3"),
        ("app", "changed", "\\N"),
    ]
    assert users("unknown_access") == ["batch"]
    assert users("administration") == ["ops", "root", "root"]
    assert users("refused_access") == sorted([evil, "app", "mallory", "guest"])
    assert [(row["user"], row["change"]) for row in rows_of(bundle, "rights_changes")] == [
        ("root", FINGERPRINTS[GRANT]),
        ("", f"roles: 'r' changed, value: ON → {LONG}"),
    ]
    assert sorted(row["what"] for row in rows_of(bundle, "audit_log_changes")) == [
        "server_state: shutdown",
        FINGERPRINTS[AUDIT_OFF],
        "settings: server_audit_logging changed, value: ON → OFF",
    ]
    assert [(row["rule"], row["state"]) for row in rows_of(bundle, "alerts")] == [("Refused login", "closed")]
    assert [(row["actor"], row["reason"]) for row in rows_of(bundle, "alert_actions")] == [
        ("erin", "a typing error")
    ]
    assert users("definitions") == ["ops"]
    assert users("audit_log_access") == ["app"]
    (details,) = rows_of(bundle, "record_details")
    assert int(details["records"]) == len(AUDIT) - 2
    assert users("reviews", "reviewer") == ["ines", "ines"]
    assert users("days_without_review", "day_without_review") == [f"{at(1440):%Y-%m-%d}"]


def test_the_oldest_record_is_known_by_server(bundle):
    reach = {(row["what"], row["instance"]): row for row in rows_of(bundle, "retention")}
    audit_log = reach["audit and general logs", "db1"]
    assert (audit_log["policy_days"], audit_log["days_back"]) == (str(load_retention()["audit_events"]), "3")
    assert audit_log["first_record"] == text(at(-1))[:19]
    assert audit_log["reaches"].startswith("no older record")
    assert ("error logs", "db2") in reach


def test_every_minute_that_was_not_seen_is_listed(bundle):
    found = {
        (row["instance"], row["state"]): (row["from_time"], row["minutes"], row["bytes_missing"])
        for row in rows_of(bundle, "coverage")
        if row["state"] != "covered"
    }
    assert found == {
        ("db1", "unknown"): (text(at(UNSEEN.start))[:19], str(len(UNSEEN)), "\\N"),
        ("db1", "missing"): (text(at(LOST))[:19], "1", str(LINE)),
    }
    covered = sum(int(row["minutes"]) for row in rows_of(bundle, "coverage") if row["state"] == "covered")
    assert covered == 2 * MINUTES - len(UNSEEN) - 1
    (gap,) = rows_of(bundle, "gaps")
    assert (gap["what"], gap["state"], gap["length_bytes"]) == ("lost", "missing", str(LINE))
    assert (gap["missing_bytes"], gap["repaired_at"], gap["log_to"]) == (str(LINE), "\\N", "\\N")


def test_servers_without_an_audit_log_are_named(bundle):
    servers = rows_of(bundle, "servers")
    states = {row["instance"]: row["state"] for row in servers}
    assert states == {"db1": "auditing was changed", "db2": "no audit log", "db3": "no audit log"}
    changes = {row["instance"]: row["changes_of_auditing"] for row in servers}
    assert changes["db1"] != "0" and {changes["db2"], changes["db3"]} == {"\\N"}, "changes are unknown, not 0"
    with zipfile.ZipFile(bundle) as file:
        warnings = json.loads(file.read("about.json"))["warnings"]
    assert any("db2, db3" in warning for warning in warnings)
    assert not any("read later" in warning for warning in warnings)
    assert any("1 missing" in warning and f"{len(UNSEEN)} unknown" in warning for warning in warnings)


def test_accounts_are_those_of_the_end_with_their_last_use(bundle):
    accounts = {row["account"]: row["last_use"] for row in rows_of(bundle, "accounts")}
    assert accounts == {"'app'@'10.%'": text(at(23))[:19], "'idle'@'%'": "\\N"}


def test_what_an_account_may_do_is_not_cut(bundle):
    rights = {row["account"]: row["privileges"] for row in rows_of(bundle, "accounts")}
    assert rights["'idle'@'%'"] == f"{LONG} on t"


def test_no_query_cuts_a_text():
    assert [name for name, result in PCI.results.items() if CUTS.search(result.statement())] == []


def test_parquet_holds_the_same_rows(bundle, planted):
    with zipfile.ZipFile(bundle) as file:
        counts = json.loads(file.read("about.json"))["rows"]
        for name in PCI.results:
            assert len(rows_of(bundle, name)) == counts[name], name
        parquet = file.read("results/refused_access.parquet")
    planted.execute("CREATE TABLE tailrace.again (user String, what String) ENGINE = Memory")
    try:
        planted._post(parquet, "query=INSERT+INTO+tailrace.again+FORMAT+Parquet", 60)
        again = sorted(row["user"] for row in planted.rows("SELECT user FROM tailrace.again"))
    finally:
        planted.execute("DROP TABLE tailrace.again")
    assert again == sorted(row["user"] for row in rows_of(bundle, "refused_access"))


ALL_TYPES = """
SELECT number,
    arrayElement(['', ' a ', '\\\\N', 'NULL', '"', 'a\\n,"b"\\r\\n', '\\xFF\\0', '=1+1'], number) AS text,
    toLowCardinality(text) AS low, if(number = 1, NULL, text) AS nullable,
    if(number = 2, NULL, number) AS integer,
    toDateTime64('2026-11-28 10:00:00.123456', 6, 'UTC') AS time,
    toDateTime('2026-11-28', 'UTC') AS second,
    if(number = 3, NULL, second) AS at, toDate(second) AS day, number % 2 = 0 AS yes, [text, ''] AS texts,
    toInt64(-number) AS negative, number / 3 AS fraction
FROM (SELECT number + 1 AS number FROM system.numbers LIMIT 8)
"""


def parquet_of(planted, directory: Path, name: str):
    result = SimpleNamespace(name=name, title=name, by_day="", statement=lambda: ALL_TYPES)
    stored = results.store(planted, result, {}, directory)
    return stored.rows, parquet.read_table(directory / "results" / f"{name}.parquet")


def test_a_converted_result_is_what_the_query_returns(planted, tmp_path, monkeypatch):
    rows, converted = parquet_of(planted, tmp_path, "converted")
    monkeypatch.setattr(results, "CONVERTED_BYTES", 0)
    assert (rows, converted) == parquet_of(planted, tmp_path, "asked") and rows == 8
    written = [(tmp_path / "results" / f"{name}.csv").read_bytes() for name in ("converted", "asked")]
    assert written[0] == written[1] and written[0].count(b"UInt64") == 0


def test_the_report_holds_names_as_text(bundle):
    with zipfile.ZipFile(bundle) as file:
        page = file.read("report.html").decode()
        assert file.read("report.pdf").startswith(b"%PDF")
        (assessment,) = json.loads(file.read("oscal-assessment-results.json")).values()
    assert assessment["results"][0]["title"].startswith("PCI DSS")
    assert "&lt;b&gt;\\u{202e}evil" in page
    assert PCI.results["log_integrity"].counts in page
    assert "<script" not in page and "http" not in page.replace("http-equiv", "")


def test_the_bundle_is_signed_and_its_export_on_record(bundle, planted):
    found = verify(bundle, KEY.public_key())
    assert found.faults == []
    row = planted.rows("SELECT * FROM tailrace.evidence_exports ORDER BY at")[0]
    assert (row["actor"], row["framework"], row["account"]) == ("ines", "pci", "auditor")
    assert row["manifest_sha256"] == found.manifest_sha256
    assert row["period_from"] == text(FIRST)[:19]


def test_empty_results_prove_nothing_about_an_unobserved_period(bundle, server, tmp_path):
    long_ago = Period(FIRST - timedelta(days=300), FIRST - timedelta(days=299))
    done = export(server, tmp_path, long_ago)
    assert any("prove nothing" in warning for warning in done.warnings)
    assert rows_of(tmp_path / "evidence.zip", "coverage") == []
    (earlier,) = rows_of(tmp_path / "evidence.zip", "exports")
    assert earlier["manifest_sha256"] == verify(bundle).manifest_sha256


def test_nothing_is_overwritten(bundle, server):
    before = bundle.read_bytes()
    with pytest.raises(EvidenceError, match="exists already"):
        export(server, bundle.parent)
    assert bundle.read_bytes() == before


EXPORTS = "SELECT count() AS count FROM tailrace.evidence_exports"


def test_a_name_that_somebody_else_took_meanwhile_is_not_on_record(planted, server, tmp_path):
    output = tmp_path / "evidence.zip"
    before = planted.rows(EXPORTS)

    def take(step: str) -> None:
        if step == "packing":
            output.write_text("somebody else's")

    with pytest.raises(EvidenceError, match="exists already"):
        Exporter(server.user("auditor"), KEY, "ines", take).export(BRIEF, PERIOD, output)
    assert output.read_text() == "somebody else's"
    assert planted.rows(EXPORTS) == before


def test_what_cannot_be_put_on_record_leaves_nothing(planted, server, tmp_path):
    with pytest.raises(ClickHouseError, match="actor_not_empty"):
        Exporter(server.user("auditor"), KEY, "").export(BRIEF, PERIOD, tmp_path / "evidence.zip")
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_without_hard_links(planted, server, tmp_path, monkeypatch):
    """Raises the error of exFAT and many network file systems."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    export(server, tmp_path, of=BRIEF)
    assert verify(tmp_path / "evidence.zip", KEY.public_key()).faults == []
    assert [path.name for path in tmp_path.iterdir()] == ["evidence.zip"]


def test_who_may_not_read_audit_logs_exports_nothing(planted, user, tmp_path):
    for account in ("reader_developer", "reader_compliance", "writer"):
        with pytest.raises(ClickHouseError):
            Exporter(user(account), KEY, "ines").export(PCI, PERIOD, tmp_path / "evidence.zip")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_not_there(planted, server, tmp_path):
    with pytest.raises(OSError):
        export(server, tmp_path / "there is no such directory")
    assert list(tmp_path.iterdir()) == []


def test_without_clickhouse_there_is_nothing(tmp_path):
    away = ClickHouse("http://127.0.0.1:9", "auditor", "x")
    with pytest.raises(OSError):
        Exporter(away, KEY, "ines").export(PCI, PERIOD, tmp_path / "evidence.zip")
    assert list(tmp_path.iterdir()) == []


@contextmanager
def full_disk() -> Iterator[None]:
    """Limits the files of this process to 2 kB. No fixture, because pytest writes its report within those."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_leaves_nothing_and_no_record(planted, server, tmp_path):
    before = planted.rows(EXPORTS)
    with pytest.raises(OSError), full_disk():
        export(server, tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert planted.rows(EXPORTS) == before


LATER = Period(END, END + timedelta(hours=1))
"""A separate period with planted servers whose logs were read completely."""


def covered_log(instance: str, source: str, minutes: range) -> list[dict]:
    """A log that grows by one line per minute and was read completely."""
    file = {"cluster": "shop", "instance": instance, "source": source, "log": f"/log/{source}.log"}
    file |= {"generation": 1, "stage": "FRAMER", "inode": 9}
    size = LINE * (minutes.stop - minutes.start)
    read = {**file, "kind": "FRONTIER", "from_offset": size, "to_offset": size}
    snapshots = [
        {**file, "kind": "CENSUS", "size": LINE * (m - minutes.start + 1), "at": text(at(MINUTES + m + 0.5))}
        for m in minutes
    ]
    return [*snapshots, {**read, "at": text(at(MINUTES + minutes.stop - 1))}]


def auditing(instance: str, active: str, first: float, last: float) -> dict:
    """Inserts the snapshots of a server from `first` to `last`, in minutes of the later period."""
    interval = facts("audit", "auditing", at(MINUTES + first), at(MINUTES + last), active=active)
    return {**interval, "instance": instance}


@pytest.fixture(scope="module")
def switched_off(planted) -> ClickHouse:
    whole = range(-2, 62)
    logs = [
        covered_log(name, "audit", whole) for name in ("off-now", "off-and-on", "changed", "said", "good")
    ]
    logs += [covered_log("dead", "audit", range(-30, -5)), covered_log("dead", "general", whole)]
    logs += [covered_log("ended", "audit", range(-2, 30)), covered_log("no-plugin", "general", whole)]
    logs += [covered_log("later", "slowlog", whole)]
    said = audit(MINUTES + 5, "root", query_id=AUDIT_OFF, verb="SET", instance="said")
    general = facts("settings", "general_log", at(MINUTES - 1), at(MINUTES + 59), value="ON")
    planted.insert("tailrace.ledger", [row for log in logs for row in log])
    planted.insert(
        "tailrace.server_facts",
        [
            auditing("off-now", "yes", -50, -40),
            auditing("off-now", "no", -30, -20),  # and not asked since
            auditing("off-and-on", "yes", -50, 10),
            auditing("off-and-on", "no", 11, 20),
            auditing("off-and-on", "yes", 21, 59),
            auditing("good", "no", -50, -40),
            auditing("good", "yes", -30, 59),
            auditing("no-plugin", "no", -30, 59),
            {**general, "instance": "no-plugin"},
        ],
    )
    change = {"instance": "changed", "kind": "audit", "key": "filter f", "change": "removed"}
    planted.insert("tailrace.server_changes", [{**change, "at": text(at(MINUTES + 7))[:-3]}])
    planted.insert("tailrace.audit_events", [said, audit(MINUTES + 6, "ann", instance="later")])
    return planted


def test_a_log_that_was_read_to_the_last_byte_does_not_hide_that_auditing_was_off(
    switched_off, server, tmp_path
):
    done = export(server, tmp_path, LATER, BRIEF)
    states = {row["instance"]: row["state"] for row in rows_of(tmp_path / "evidence.zip", "servers")}
    read_later = states.pop("later")
    day = f"{at(MINUTES + 6):%Y-%m-%d}"
    assert read_later.startswith("audit log read later, on ") and read_later.endswith(
        f" UTC: records of {day}"
    )
    assert {name: state for name, state in states.items() if not name.startswith("db")} == {
        "off-now": "auditing was off",
        "off-and-on": "auditing was off",
        "changed": "auditing was changed",
        "said": "auditing was changed",
        "dead": "audit log not seen in the period",
        "ended": f"audit log watched until {at(MINUTES + 29):%Y-%m-%d %H:%M} UTC",
        "good": "audited",
        "no-plugin": "audited",
    }
    covered = {
        row["instance"]
        for row in rows_of(tmp_path / "evidence.zip", "coverage")
        if (row["state"], row["minutes"]) == ("covered", "60")
    }
    assert {"off-now", "off-and-on", "changed", "said", "good"} <= covered
    off, changed = (
        next(warning for warning in done.warnings if words in warning)
        for words in ("was off", "was switched")
    )
    assert "off-and-on, off-now" in off
    assert "changed, said" in changed
    (later,) = (warning for warning in done.warnings if "read later" in warning)
    assert f"later ({datetime.now(UTC):%Y-%m-%d})" in later
    (unaudited,) = (warning for warning in done.warnings if "No audit log of the period" in warning)
    assert "dead" in unaudited and "later" not in unaudited


MANY = 1_050_000
"""More than the limit of any reader."""


@pytest.mark.long
def test_results_of_any_size_are_whole_and_cost_no_memory(planted, server, tmp_path):
    period = Period(FIRST - timedelta(days=20), FIRST - timedelta(days=10))
    planted.execute(
        "INSERT INTO tailrace.audit_events "
        "(event_id, instance, source, event_time, event_class, command, status, user) "
        "SELECT generateUUIDv4(), 'db9', 'audit', {from:DateTime64(6, 'UTC')} + number % 864000, "
        f"'connection', 'FAILED_CONNECT', 1045, 'mallory' FROM numbers({MANY})",
        period.parameters(),
        max_partitions_per_insert_block=0,
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = export(server, tmp_path, period)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    size = (tmp_path / "evidence.zip").stat().st_size
    print(f"{done.rows:,} rows, {size:,} bytes, {grown:.0f} MiB more memory")
    with zipfile.ZipFile(tmp_path / "evidence.zip") as file:
        assert json.loads(file.read("about.json"))["rows"]["refused_access"] == MANY
        with file.open("results/refused_access.csv") as rows:
            assert sum(1 for _ in rows) == MANY + 1
    assert grown < 100
    assert verify(tmp_path / "evidence.zip", KEY.public_key()).faults == []
