"""Tests the queries of the dashboard of sessions on rows with known results."""

import pytest
from security_rows import alert_of, asking, at, audit, denied_message, identity_of, login, refused, slow


@pytest.fixture
def ask(user, rendered):
    return asking(user, rendered)


@pytest.fixture
def two_sessions(stored) -> dict:
    """Connection 7 twice, with a restart between; an alert names a statement of the second session."""
    statement = audit(20, 3, verb="SELECT", query_id=5, rule_set="tailrace-1", server_query_id=81)
    denied = audit(20, 5, verb="GRANT", query_id=6, rule_set="tailrace-1", status=1142)
    stored(
        "audit_events",
        login(60),
        audit(59, verb="SELECT", query_id=5, rule_set="tailrace-1"),
        audit(58, event_class="connection", command="DISCONNECT"),
        login(20, program_name="mysql", connection_type="tcp"),
        login(20, 0.4, source="general", command="Connect", flags=["status_unknown"]),
        statement,
        audit(20, 3, event_class="table", command="READ", object="cards", server_query_id=81),
        denied,
        audit(19, event_class="connection", command="DISCONNECT"),
        login(10, connection_id=8),
    )
    stored(
        "query_events",
        slow(20, 3.2, query_id=5, rows_sent=200, tables_read=["shop.cards"]),
        slow(20, 9, query_id=7, rows_sent=1),
    )
    stored(
        "fingerprints",
        {"query_id": 5, "rule_set": "tailrace-1", "fingerprint": "select pan", "seen_at": at()},
    )
    stored(
        "error_events",
        {**denied_message(20, 6), "kind": "connection_aborted", "thread_id": 7, "message": "Aborted"},
    )
    stored("data_access", {**identity_of(statement), "data_class": ["pci"], "data_class_read": ["pci"]})
    stored(
        "alerts",
        alert_of(statement),
        alert_of(refused(21), level="critical", user="app", src_ip="10.0.3.9", event_ids=[]),
        alert_of(refused(21), user="app", src_ip="10.9.9.9", event_ids=[]),
        alert_of(refused(90), user="app", event_ids=[]),
    )
    return {"statement": statement, "denied": denied}


@pytest.mark.parametrize(
    "filters", [{}, {"instance": ["db1"], "connection_id": ["7"]}, {"connection_id": ["7"]}]
)
def test_a_session_contains_the_events_of_all_logs_in_order(two_sessions, ask, filters):
    found = sorted(ask("session_events", **filters), key=lambda row: row["event_time"])
    assert [(row["log"], row["command"], row["operation"]) for row in found] == [
        ("audit", "CONNECT", "login and logout"),
        ("general", "Connect", "login and logout"),
        ("audit", "SELECT", "read"),
        ("slow log", "QUERY", "other"),
        ("audit", "GRANT", "refused or failed"),
        ("error log", "connection_aborted", "message"),
        ("slow log", "QUERY", "other"),
        ("audit", "DISCONNECT", "login and logout"),
    ]
    assert {(row["user"], row["src_ip"], row["program"], row["connection_id"]) for row in found} == {
        ("app", "10.0.3.9", "mysql", "7")
    }
    read = found[2]
    assert (read["statement"], read["data_classes"]) == ("select pan", "pci")
    assert "query-detail" in read["link"]
    assert found[3]["rows_sent"] == 200
    assert found[4]["error"] == "1142: no right to the table"


def test_classes_of_data_are_of_the_record_and_not_of_its_second(stored, ask):
    columns = [
        {"event_class": "table", "command": "READ", "object": "cards", "server_query_id": 81},
        {"verb": "SELECT", "query_id": 5, "server_query_id": 81},
        {"verb": "SET", "query_id": 6, "server_query_id": 82},
        {"event_class": "connection", "command": "DISCONNECT", "server_query_id": 0},
    ]
    records = [audit(20, 3, entry_offset=offset, **each) for offset, each in enumerate(columns, 100)]
    stored("audit_events", login(20, server_query_id=0), *records)
    stored("data_access", {**identity_of(records[0]), "data_class": ["pci"], "data_class_read": ["pci"]})
    found = sorted(ask("session_events"), key=lambda row: (row["event_time"], row["entry_offset"]))
    assert [(row["command"], row["data_classes"]) for row in found] == [
        ("CONNECT", ""),
        ("SELECT", "pci"),
        ("SET", ""),
        ("DISCONNECT", ""),
    ]


def test_sessions_are_distinguished_and_suspicious_ones_come_first(two_sessions, ask):
    found = sorted(ask("sessions"), key=lambda row: (-row["max_level"], -row["error_count"], row["began_at"]))
    assert [
        (
            row["connection_id"],
            row["began_at"],
            row["statements"],
            row["error_count"],
            row["alert_count"],
            row["reason"],
        )
        for row in found
    ] == [
        ("7", at(20)[:19], 2, 1, 2, "high"),
        ("7", at(60)[:19], 1, 0, 0, "ordinary"),
        ("8", at(10)[:19], 0, 0, 1, "of its user or client"),
    ]
    assert [row["connection_id"] for row in ask("sessions", connection_id=["8"])] == ["8"]
    assert ask("sessions", user=["nobody"]) == []


def test_alerts_concern_a_session_that_they_name_or_whose_user_they_are_about(two_sessions, ask):
    found = sorted((row["level"], row["why"]) for row in ask("session_alerts"))
    assert found == [("critical", "same user or client at the time"), ("high", "names what it did")]


@pytest.mark.parametrize("filters", [{}, {"user": ["app"]}, {"src_ip": ["10.0.3.9"]}])
def test_a_session_has_as_many_alerts_in_the_list_as_on_its_own(two_sessions, stored, ask, filters):
    stored("alerts", alert_of(two_sessions["denied"]), alert_of(two_sessions["denied"], user="nobody"))
    listed = {row["connection_id"]: row for row in sorted(ask("sessions"), key=lambda row: row["began_at"])}
    assert listed.keys() == {"7", "8"}
    for connection, row in listed.items():
        its = ask("session_alerts", instance=["db1"], connection_id=[connection], **filters)
        assert row["alert_count"] == len({alert["id"] for alert in its}), connection
    assert listed["7"]["alert_count"] == 4


def test_a_logout_in_the_second_of_the_next_login_is_in_the_session_before(stored, ask):
    logout = {"event_class": "connection", "command": "DISCONNECT"}
    stored(
        "audit_events",
        login(30, entry_offset=0),
        audit(20, entry_offset=900, **logout),
        login(20, entry_offset=1000, user="next"),
        audit(20, entry_offset=1100, user="next"),
        audit(20, entry_offset=10_000, user="next", **logout),
    )
    stored("query_events", slow(20, user="next", rows_sent=7))
    found = {row["user"]: row["rows_sent"] for row in ask("sessions")}
    assert found == {"app": None, "next": 7}
    events = ask("session_events", instance=["db1"], connection_id=["7"])
    assert sorted(row["entry_offset"] for row in events if row["log"] == "audit") == [1000, 1100, 10_000]


def test_a_session_whose_begin_was_not_seen(stored, ask):
    stored("query_events", slow(30, query_id=5, connection_id=99))
    (found,) = ask("sessions")
    assert (found["note"], found["statements"], found["rows_sent"]) == ("began before", 1, 10)
    assert len(ask("session_events")) == 1


@pytest.mark.parametrize("query", ["sessions", "session_events", "session_alerts"])
@pytest.mark.parametrize("filters", [{}, {"instance": ["db'1"], "connection_id": ["no number"]}])
def test_where_there_is_no_session_there_is_nothing(admin, ask, query, filters):
    assert ask(query, **filters) == []
