"""Tests the queries on privileged activity, changes of privileges and the use of accounts."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from compliance_rows import NOW, RANGE, ago, asking, event, fact, message, stored, written

from tailrace.evidence import framework


@pytest.fixture
def ask(admin, user, rendered) -> Callable[..., list[dict]]:
    return asking(user, rendered)


def test_an_account_is_shared_that_several_use_within_an_hour(admin, ask):
    hour = (NOW - timedelta(hours=5)).replace(minute=10)
    both = {"event_time": written(hour)}
    stored(
        admin,
        "audit_events",
        {**event(0, "crew", "10.0.0.1"), **both},
        {**event(0, "crew", "10.0.0.2"), **both},
        event(1, "roamer", "10.0.0.1"),
        event(2, "roamer", "10.0.0.2"),
        event(1, "people", os_user="ann"),
        event(3, "people", os_user="bob"),
        {**event(0, "local", "127.0.0.1"), **both},
        {**event(0, "local", "", host="localhost"), **both},
        event(1, "guess", "10.0.0.3", event_class="connection", status=1045),
    )
    found = {row["user"]: (row["at_once"], row["client_count"], row["shared"]) for row in ask("accounts_use")}
    assert found == {
        "crew": (2, 2, "yes"),
        "roamer": (1, 2, "no"),
        "people": (1, 1, "yes"),
        "local": (1, 1, "no"),
    }


def test_privileged_activity_is_grouped_by_kind(admin, ask):
    texts = {1: "drop table x", 2: "create user ?@?", 3: "set global server_audit_logging = ?", 4: "select ?"}
    for number, text in texts.items():
        stored(admin, "fingerprints", {"query_id": number, "fingerprint": text, "seen_at": ago(1)})
    rights = {"grantee": "'boss'@'%'", "privileges": "SUPER", "object": "*.*", "grant_option": "no"}
    stored(admin, "server_facts", fact("grants_global", "'boss'@'%' global *.*", rights))
    stored(
        admin,
        "audit_events",
        *(event(1, "boss", query_id=number, minutes=number, connection_id=5) for number in texts),
        event(1, "root", query_id=4, status=1142),
        event(1, "app", query_id=1),
        event(1, "app", query_id=4),
    )
    outer = "SELECT kind, user, count() AS times FROM ({}) GROUP BY ALL"

    def found(**filters) -> dict[tuple[str, str], int]:
        return {(row["kind"], row["user"]): row["times"] for row in ask("privileged", outer, **filters)}

    definitions = {("schema changes", "boss"): 1, ("schema changes", "app"): 1}
    assert found() == definitions | {
        ("administrators", "boss"): 4,
        ("administrators", "root"): 1,
        ("accounts and privileges", "boss"): 1,
        ("audit log", "boss"): 1,
    }
    assert found(kind=["schema changes"]) == definitions
    failed = ask("privileged", "SELECT user FROM ({}) WHERE has_failed")
    assert failed == [{"user": "root"}]


def difference(kind: str, key: str, change: str, minutes: float, **values: str) -> dict:
    row = {"cluster": "c", "instance": "db1", "kind": kind, "key": key, "at": ago(1, minutes)[:-3]}
    return {**row, "change": change, "after" if change == "added" else "before": values}


def store_changes_of_privileges(admin, carla) -> None:
    """Stores statements about an account, what a snapshot shows of them, and changes without statement."""
    texts = {
        1: "create user `carla`@`10.%` identified ?",
        2: "grant select, insert on shop.reviews to `carla`@`10.%`",
    }
    for number, text in texts.items():
        stored(admin, "fingerprints", {"query_id": number, "fingerprint": text, "seen_at": ago(1)})
    looked = {"cluster": "c", "instance": "db1", "kind": "accounts", "status": "ok", "part": 1, "parts": 1}
    stored(admin, "server_snapshots", *({**looked, "at": ago(1, at)[:-3]} for at in (60, 10, 5)))
    stored(
        admin, "audit_events", *(event(1, "ben", query_id=number, minutes=20 - number) for number in texts)
    )
    granted = {"grantee": carla, "grant_option": "no"}
    reviews = {**granted, "object": "`shop`.`reviews`"}
    stored(
        admin,
        "server_changes",
        difference("accounts", carla, "added", 10, user="carla", password="set", locked="no"),
        difference("grants_table", f"{carla} reviews", "added", 10, **reviews, privileges="INSERT, SELECT"),
        # by nobody: another object, more than was granted, and again after the next snapshot
        difference(
            "grants_table",
            f"{carla} cards",
            "added",
            10,
            **granted,
            object="`shop`.`cards`",
            privileges="SELECT",
        ),
        difference("grants_table", f"{carla} more", "added", 10, **reviews, privileges="DELETE, SELECT"),
        difference("grants_table", f"{carla} again", "added", 5, **reviews, privileges="SELECT"),
    )


def test_a_change_of_privileges_is_one_row_if_a_snapshot_confirms_it(admin, ask, metric):
    carla = "'carla'@'10.%'"
    store_changes_of_privileges(admin, carla)
    rows = ask("accounts_changes", "SELECT * FROM ({}) ORDER BY changed_at, change")
    snapshots = [row["change"] for row in rows if row["recorded_by"] == "server snapshot"]
    assert [(row["user"], row["recorded_by"]) for row in rows if row["user"]] == [
        ("ben", "audit log, server snapshot"),
        ("ben", "audit log, server snapshot"),
    ]
    assert {row["account"] for row in rows} == {carla}
    unknown = {(row["origin"], row["program"]) for row in rows if not row["user"]}
    assert unknown == {("(unknown)", "(unknown)")}
    assert snapshots == [
        f"grants_table: {carla} cards added, privileges: SELECT",
        f"grants_table: {carla} more added, privileges: DELETE, SELECT",
        f"grants_table: {carla} again added, privileges: SELECT",
    ]
    outer = "SELECT user, count() AS times FROM ({}) GROUP BY user ORDER BY user"
    assert ask("privileged", outer, kind=["accounts and privileges"]) == [
        {"user": "(server snapshot)", "times": 3},
        {"user": "ben", "times": 2},
    ]


def test_a_refused_login_does_not_make_an_administrator_active(admin, ask, metric):
    refused = {"event_class": "connection", "command": "FAILED_CONNECT", "status": 1045}
    late = NOW.replace(hour=3, minute=0) - timedelta(days=2)
    stored(
        admin,
        "audit_events",
        {**event(1, "root", ip="203.0.113.66", **refused), "event_time": written(late)},
        {**event(1, "root", instance="db2", verb="SELECT"), "event_time": written(late)},
        {**event(1, "root", instance="db2", **refused), "event_time": written(late)},
    )
    active = metric("privileged", "cnt_administrators", time_range=RANGE)
    late_records = metric("privileged", "cnt_late_administration", time_range=RANGE)
    records = metric("privileged", "cnt_administration", time_range=RANGE)
    outer = f"SELECT {active} AS active, {late_records} AS late, {records} AS records FROM ({{}})"
    assert ask("privileged", outer) == [{"active": 1, "late": 1, "records": 3}]


def test_statements_have_the_program_of_their_login(admin, user):
    logged_in = {"event_class": "connection", "command": "CONNECT"}
    stored(
        admin,
        "audit_events",
        event(1, "app", minutes=9, **logged_in, connection_id=5, program_name="shop-api"),
        event(1, "app", minutes=8, connection_id=5),
        # the id again after a restart, with another program: which one is unknown
        event(1, "app", minutes=7, **logged_in, connection_id=6, program_name="shop-api"),
        event(1, "app", minutes=6, **logged_in, connection_id=6, program_name="mysql"),
        event(1, "app", minutes=5, connection_id=6),
        event(1, "app", minutes=4, connection_id=7),
    )
    period = {"from": ago(2)[:19], "to": ago(0)[:19]}
    rows = user("auditor").rows(framework.result("account_use").statement(), period)
    found = {row["client_program"]: (row["logins"], row["statements"]) for row in rows}
    assert found == {"shop-api": (2, 1), "mysql": (1, 0), "": (0, 2)}


def test_restarts_and_plugins_are_no_changes_of_auditing(admin, ask, metric):
    texts = {1: "install plugin server_audit soname ?", 2: "uninstall plugin feedback", 3: "install soname ?"}
    for number, text in texts.items():
        stored(admin, "fingerprints", {"query_id": number, "fingerprint": text, "seen_at": ago(1)})
    stored(admin, "audit_events", *(event(1, "root", query_id=number, minutes=number) for number in texts))
    stored(
        admin,
        "error_events",
        message("server_state", details={"state": "start"}),
        message("server_state", details={"state": "ready"}),
        message("server_state", details={"state": "shutdown"}),
        message("plugin_change", details={"plugin": "FEEDBACK"}, message="Plugin 'FEEDBACK' is disabled."),
        message("plugin_change", details={"plugin": "SERVER_AUDIT"}, message="Shutting down plugin"),
        message("plugin_change", message="server_audit: logging started to the file audit.log"),
    )
    outer = "SELECT kind, count() AS times FROM ({}) WHERE kind != 'administrators' GROUP BY kind"
    found = {row["kind"]: row["times"] for row in ask("privileged", outer)}
    # A library whose name is masked may be the audit plugin.
    assert (found["audit log"], found["servers and plugins"]) == (2 + 2, 3 + 1 + 1)
    changes = f"SELECT {metric('privileged', 'cnt_auditing')} AS changes FROM ({{}})"
    assert ask("privileged", changes) == [{"changes": 4}]
    only = ask("privileged", outer, kind=["servers and plugins"])
    assert {row["kind"]: row["times"] for row in only}["servers and plugins"] == 5
