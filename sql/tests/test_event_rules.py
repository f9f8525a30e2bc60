"""Which events are logins, their outcome, and codes of refusals, by the cases of schemas/contracts."""

import json
import re
import uuid
from pathlib import Path

import jinja2
import pytest
from security_rows import RANGE, asking, audit, login, refused, slow

from tailrace.clickhouse.query_files import QUERIES, query_text, text_of
from tailrace.config.resources import ROOT

CONTRACTS = ROOT / "schemas" / "contracts"
LOGINS = json.loads((CONTRACTS / "login.json").read_text())
OUTCOMES = json.loads((CONTRACTS / "outcome.json").read_text())
CODES = json.loads((CONTRACTS / "refusal_code.json").read_text())

STORED = ("event_class", "command", "event_name", "status", "flags", "format")
HOUR = {"from": RANGE[0][:19].replace("T", " "), "to": RANGE[1][:19].replace("T", " ")}


@pytest.fixture
def ask(user, rendered):
    return asking(user, rendered)


def rows_of(cases: list[dict]) -> list[dict]:
    """Rows of audit_events whose connection is the number of the case."""
    return [
        audit(30, connection_id=number, **{name: case[name] for name in STORED})
        for number, case in enumerate(cases)
    ]


def found_by_case(admin, columns: str, table: str = "audit_events") -> dict[int, tuple]:
    rows = admin.rows(f"SELECT toUInt32(connection_id) AS number, {columns} FROM tailrace.{table}")
    return {row.pop("number"): tuple(row.values()) for row in rows}


def test_logins_and_outcomes_of_audit_logs_are_those_of_the_contracts(admin, stored):
    cases = [*LOGINS, *OUTCOMES["events"]]
    stored("audit_events", *rows_of(cases))

    found = found_by_case(
        admin, "login_result, login_kind = 'change user' AS changes, event_outcome, has_failed"
    )

    for number, case in enumerate(cases):
        result, changes, outcome, has_failed = found[number]
        assert result == case.get("login", result), case
        assert bool(changes) == case.get("changes_user", bool(changes)), case
        assert outcome == case.get("outcome", outcome), case
        assert bool(has_failed) == (outcome == "failure"), case


def test_outcomes_of_slow_logs_are_those_of_the_contract(admin, stored):
    cases = OUTCOMES["entries"]
    stored(
        "query_events",
        *(slow(30, connection_id=n, error_code=case["error_code"]) for n, case in enumerate(cases)),
    )

    found = found_by_case(admin, "event_outcome, has_failed", "query_events")

    assert found == {n: (case["outcome"], int(case["outcome"] == "failure")) for n, case in enumerate(cases)}


def test_sums_of_days_have_the_same_logins_and_outcomes(admin, stored):
    stored("audit_events", *rows_of([*LOGINS, *OUTCOMES["events"]]))
    stored("query_events", *(slow(30, error_code=case["error_code"]) for case in OUTCOMES["entries"]))
    columns = "login_kind, has_failed"

    def counts(table: str, of_day: bool) -> list[dict]:
        kinds = columns if table == "audit_events" else "has_failed"
        days = "sum(count) AS events FROM tailrace.entities_1d WHERE entity_kind = 'log' AND event_table = "
        days += f"'{table}'"
        text = days if of_day else f"count() AS events FROM tailrace.{table}"
        return admin.rows(f"SELECT {kinds}, {text} GROUP BY ALL ORDER BY ALL")

    for table in ("audit_events", "query_events"):
        assert counts(table, of_day=True) == counts(table, of_day=False), table


def test_codes_of_refusals_are_those_of_the_contract():
    def of(*kinds: str) -> set[int]:
        return {case["code"] for case in CODES if case["kind"] in kinds}

    codes = part("refusal_codes")
    assert numbers(codes.privilege_refusals()) == of("privilege")
    assert numbers(codes.all_refusals()) == of("login", "privilege")
    assert of("login", "privilege") <= numbers(part("error_codes").error_meaning("code"))


def part(name: str):
    return jinja2.Environment().from_string(query_text(QUERIES / "parts" / f"{name}.sql")).module


def numbers(text: str) -> set[int]:
    return {int(number) for number in re.findall(r"\b[0-9]{4}\b", text)}


DECIDES = re.compile(
    r"status *(!?=|IN) *\(?0|status_unknown|failed_\)?connect|failed login|change.?user"
    r"|lower\(command\)|error_code, 0\) *(!?=|IN|NOT IN) *\(?0, *[0-9]",
    re.IGNORECASE,
)
SHOWN = re.compile(r"if\(status = 0, '', toString\(status\)\)|status != 0, concat\('error '")
"""Texts of a code, which do not decide whether a record has failed."""


def own_rules(file: Path) -> list[str]:
    text = re.sub(r"\{#.*?#\}|^ *--.*$", "", file.read_text(), flags=re.DOTALL | re.MULTILINE)
    return [found[0] for found in DECIDES.finditer(SHOWN.sub("", text))]


def test_no_query_decides_itself_what_a_login_or_an_outcome_is():
    files = sorted([*QUERIES.rglob("*.sql"), ROOT / "embedded" / "tailrace" / "search" / "sources.py"])
    found = {str(file.relative_to(ROOT)): own_rules(file) for file in files if own_rules(file)}

    assert found == {}


# Differences between the former places, ADR 0092


def filter_record(minutes: float, event_name: str, **columns) -> dict:
    return refused(minutes, command="Connect", event_name=event_name, **columns)


def test_the_second_record_of_a_refused_login_in_a_filter_log_is_none_of_its_own(stored, ask, user):
    stored(
        "audit_events",
        filter_record(30, "connect"),
        filter_record(30, "error"),
        filter_record(30, "status"),
        audit(20, event_class="connection", command="Init DB", event_name="status", status=1044),
    )
    assert [row["outcome"] for row in ask("logins")] == ["refused"]
    kinds = sorted(row["attempt"] for row in ask("refused_access"))
    assert kinds == ["login", "statement"]
    evidence = user("reader_compliance").rows(text_of("evidence_refused_access"), HOUR)
    assert sorted(row["what"] for row in evidence) == ["login refused", "statement refused"]


def test_a_failed_login_without_a_status_is_refused(stored, ask):
    stored("audit_events", refused(30, status=0), refused(20, command="Failed Login", status=0))
    assert [row["outcome"] for row in ask("logins")] == ["refused", "refused"]


def test_a_second_row_of_mariadb_is_no_login(stored, ask):
    stored("audit_events", login(30), login(30, command="PROXY_CONNECT", status=1045))
    assert [row["outcome"] for row in ask("logins")] == ["logged in"]


def usage(user) -> dict[str, tuple[int, int]]:
    rows = user("reader_compliance").rows(text_of("evidence_account_use"), HOUR)
    return {row["user"]: (row["logins"], row["refused_logins"]) for row in rows}


def test_evidence_counts_logins_of_all_formats_once_and_no_unknown_ones(stored, user):
    general = {"source": "general", "command": "Connect", "flags": ["status_unknown"]}
    stored(
        "audit_events",
        login(30, user="maria"),
        login(29, user="maria", command="CHANGEUSER"),
        login(30, user="filter", command="connect", event_name="connect"),
        login(30, user="filter", command="Connect", event_name="status"),
        login(30, user="replica", source="general", command="Connect Out", flags=["status_unknown"]),
        login(30, user="general", **general),
        audit(29, user="general", source="general", command="Query", flags=["status_unknown", "logged_in"]),
        login(30, user="stranger", **general),
        refused(30, user="stranger", source="general", command="Connect"),
        audit(30, user="denied", event_class="connection", command="Init DB", status=1044),
    )
    assert usage(user) == {
        "maria": (2, 0),
        "filter": (1, 0),
        "replica": (0, 0),
        "general": (1, 0),
        "stranger": (0, 1),
        "denied": (0, 0),
    }


def test_a_refused_login_of_a_general_log_is_no_use_of_an_account(stored, ask):
    general = {"source": "general", "command": "Connect"}
    stored(
        "audit_events",
        login(30, user="stranger", flags=["status_unknown"], **general),
        refused(30, user="stranger", **general),
        login(30, user="known", flags=["status_unknown"], **general),
        audit(29, user="known", source="general", command="Query", flags=["status_unknown", "logged_in"]),
        login(28, user="claimed", command="pre_authenticate", event_name="pre_authenticate"),
    )
    assert [row["user"] for row in ask("accounts_use", "reader_compliance")] == ["known"]


def test_records_without_a_result_are_unknown_in_evidence(stored, user):
    root = {"user": "root", "instance": "db1"}
    stored(
        "audit_events",
        audit(30, event_name="query_start", command="query_start", **root),
        audit(29, event_name="status", command="Query", status=1064, **root),
        audit(28, command="QUERY", **root),
    )
    rows = user("reader_compliance").rows(text_of("evidence_administration"), HOUR)
    assert [row["result"] for row in rows] == ["unknown", "error 1064", "success"]


def test_a_session_of_a_filter_log_begins_once(stored, ask):
    stored(
        "audit_events",
        login(30, command="connect", event_name="connect"),
        login(29.9, command="Connect", event_name="status"),
        audit(29.8, command="Query", event_name="status"),
    )
    (session,) = ask("sessions")
    assert session["statements"] == 1


def test_a_refused_database_is_no_refused_login_of_a_session(stored, ask):
    stored("audit_events", audit(30, event_class="connection", command="Init DB", status=1044))
    (session,) = ask("sessions")
    assert session["note"] == "began before"


def test_a_refused_database_is_no_refused_login_of_an_administrator(stored, ask):
    stored(
        "audit_events",
        refused(40, user="root"),
        audit(30, user="root", event_class="connection", command="Init DB", status=1044),
    )
    rows = ask("privileged", "reader_compliance")
    found = sorted((row["result"], row["is_refused_login"]) for row in rows if row["result"])
    assert found == [("error 1044", 0), ("error 1045", 1)]


def test_the_program_of_an_access_is_that_of_a_login(stored, admin):
    access = {"event_id": str(uuid.uuid4()), "action_id": "a1", "event_time": audit(20)["event_time"]}
    stored(
        "audit_events",
        login(30, program_name="app"),
        audit(25, event_class="connection", command="Ping", program_name="other"),
    )
    stored("data_access", {**access, "instance": "db1", "connection_id": 7, "user": "app"})
    (row,) = admin.rows(
        "SELECT program "
        "FROM tailrace.data_access_by_action(begin = {from:DateTime('UTC')}, until = {to:DateTime('UTC')})",
        HOUR,
    )
    assert row["program"] == "app"
