"""Tests the queries of the security dashboards on logins, sessions and refusals with known results."""

import uuid
from datetime import UTC, datetime, timedelta
from urllib.parse import unquote

import pytest

from tailrace.alerts import triage

NOW = datetime.now(UTC).replace(microsecond=0)
RANGE = ((NOW - timedelta(hours=2)).isoformat(), (NOW + timedelta(minutes=1)).isoformat())


def at(minutes_ago: float = 0, seconds: float = 0) -> str:
    return f"{NOW - timedelta(minutes=minutes_ago) + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S.%f}"


def audit(minutes_ago: float, seconds: float = 0, **columns) -> dict:
    return {
        "event_id": str(uuid.uuid4()),
        "event_time": at(minutes_ago, seconds),
        "cluster": "shop",
        "instance": "db1",
        "source": "audit",
        "event_class": "query",
        "command": "QUERY",
        "connection_id": 7,
        "user": "app",
        "host": "10.0.3.9",
        "ip": "10.0.3.9",
        **columns,
    }


def login(minutes_ago: float, seconds: float = 0, **columns) -> dict:
    return audit(minutes_ago, seconds, **{"event_class": "connection", "command": "CONNECT", **columns})


def refused(minutes_ago: float, seconds: float = 0, **columns) -> dict:
    failed = {"event_class": "connection", "command": "FAILED_CONNECT", "status": 1045}
    return audit(minutes_ago, seconds, **{**failed, **columns})


def denied_message(minutes_ago: float, seconds: float = 0, **columns) -> dict:
    row = audit(minutes_ago, seconds, **{"ip": "", **columns})
    kept = ("event_id", "event_time", "cluster", "instance", "user", "host", "ip")
    return {
        **{name: row[name] for name in kept},
        "source": "errorlog",
        "kind": "access_denied",
        "thread_id": 9,
    }


@pytest.fixture
def stored(admin, user):
    """Inserts rows like the job."""

    def insert(table: str, *rows: dict) -> None:
        user("writer").insert(f"tailrace.{table}", list(rows))

    return insert


@pytest.fixture
def ask(user, rendered):
    """Returns the rows of a query for a security analyst."""

    def run(name: str, reader: str = "reader_security", **filters: list[str]) -> list[dict]:
        return user(reader).rows(rendered(name, *RANGE, **filters))

    return run


def test_an_attempt_that_three_logs_tell_counts_once(stored, ask):
    stored(
        "audit_events",
        refused(30, 0),
        refused(30, 1),
        refused(30, 20),
        refused(30, 0.5, source="general", command="Connect", connection_id=11),
    )
    stored("error_events", denied_message(30, 1), denied_message(30, 2), denied_message(10, user="APP"))
    found = ask("logins")
    assert len(found) == 2 + 1 + 1
    assert sorted(row["source_logs"] for row in found) == [
        "audit",
        "audit, error log, general",
        "audit, error log, general",
        "error log",
    ]
    assert {row["network"] for row in found} == {"10.0.3.0/24"}


def test_two_names_and_two_servers_are_different_attempts(stored, ask):
    stored("audit_events", refused(30), refused(30, user="root"), refused(30, instance="db2"))
    assert len(ask("logins")) == 3


def test_logins_of_the_general_log_count_where_the_audit_log_is_silent(stored, ask):
    general = {"source": "general", "command": "Connect", "flags": ["status_unknown"]}
    stored(
        "audit_events",
        login(30),
        login(30, **general),
        login(30, instance="db2", **general),
        login(20, instance="db2", connection_id=8, **general),
        refused(20, instance="db2", connection_id=8, source="general", command="Connect"),
        login(30, event_name="pre_authenticate", connection_id=9),
        audit(30, event_class="connection", command="DISCONNECT"),
    )
    found = [(row["instance"], row["outcome"], row["source_logs"]) for row in ask("logins")]
    assert sorted(found) == [
        ("db1", "logged in", "audit"),
        ("db2", "logged in", "general"),
        ("db2", "refused", "general"),
    ]


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("10.20.30.40", "10.20.30.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:10.1.2.3", "10.1.2.0/24"),
        ("web-1.example", "web-1.example"),
        ("", "(unknown)"),
    ],
)
def test_the_network_of_a_client(stored, ask, address, network):
    stored("audit_events", login(30, ip=address, host=""), refused(29, ip=address, host=""))
    assert {row["network"] for row in ask("logins")} == {network}


def test_encryption_is_known_where_a_log_tells_it(stored, ask):
    stored("audit_events", *(login(30, connection_type=kind) for kind in ("tcp", "tls", "socket", "")))
    assert sorted(row["encrypted"] for row in ask("logins")) == ["local", "no", "unknown", "yes"]


def test_a_guessed_password_is_told_from_guessing_and_from_a_mistake(stored, ask):
    stored(
        "audit_events",
        *(refused(60, number * 5, user="dan", ip="203.0.113.7") for number in range(12)),
        login(58, user="Dan", ip="203.0.113.7", connection_id=77),
        *(refused(50, number * 5, user="root", ip="203.0.113.8") for number in range(10)),
        login(30, user="root", ip="203.0.113.8"),
        *(refused(40, number * 60, user="eve") for number in range(3)),
        login(40, 70, user="eve"),
        *(refused(20, number, user="ben") for number in range(2)),
        login(19, user="ben"),
    )
    found = {row["user"]: (row["verdict"], row["refused_attempts"]) for row in ask("login_guesses")}
    assert found == {"dan": ("then logged in", 12), "root": ("guessing", 10), "eve": ("some refused", 3)}
    (dan,) = (row for row in ask("login_guesses") if row["user"] == "dan")
    assert dan["logged_in_at"] == at(58)[:19]
    assert "'77'" in unquote(dan["link"])


def test_a_pause_of_five_minutes_ends_guessing(stored, ask):
    stored("audit_events", *(refused(minutes) for minutes in (60, 59, 58, 50, 49, 48, 40)))
    assert [row["refused_attempts"] for row in ask("login_guesses")] == [3, 3]


def test_a_pair_of_account_and_client_is_new_once(stored, ask):
    before = 60 * 24 * 10
    general = {"instance": "db3", "source": "general", "command": "Connect", "flags": ["status_unknown"]}
    stored(
        "audit_events",
        login(before),
        login(30),
        refused(before, user="root"),
        audit(before, event_class="connection", command="DISCONNECT", user="root"),
        login(before, **general),
        login(30, **general),
        login(20, user="late", **general),
        login(30, user="root"),
        login(20, user="root"),
        login(10, ip="10.0.9.9", connection_id=78),
        login(110, instance="db2"),
        login(50, instance="db2", user="late"),
    )
    found = {
        (row["instance"], row["user"], row["src_ip"]): (row["novelty"], row["login_count"])
        for row in ask("logins_first_seen")
    }
    assert found == {
        ("db1", "root", "10.0.3.9"): ("new", 2),
        ("db1", "app", "10.0.9.9"): ("new", 1),
        ("db2", "app", "10.0.3.9"): ("the log begins", 1),
        ("db2", "late", "10.0.3.9"): ("new", 1),
        ("db3", "late", "10.0.3.9"): ("new", 1),
    }


def slow(minutes_ago: float, seconds: float = 0, **columns) -> dict:
    row = audit(minutes_ago, seconds)
    kept = ("event_id", "event_time", "cluster", "instance", "connection_id", "user", "host", "ip")
    entry = {"source": "slowlog", "weight": 1, "query_time": 0.5, "rows_sent": 10, "rule_set": "tailrace-1"}
    return {**{name: row[name] for name in kept}, **entry, **columns}


def alert_of(*records: dict, level: str = "high", **columns) -> dict:
    first, last = records[0], records[-1]
    return {
        "alert_id": str(uuid.uuid4()),
        "rule_id": "rule",
        "rule_title": "Rule",
        "level": level,
        "instance": last["instance"],
        "event_time": last["event_time"],
        "window_from": first["event_time"],
        "updated_at": last["event_time"],
        "entity_key": "user=app",
        "event_ids": [record["event_id"] for record in records],
        "link_path": "/superset/dashboard/alerts/?native_filters=()",
        **columns,
    }


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
    stored("data_access", {**_access(statement), "data_class": ["pci"], "data_class_read": ["pci"]})
    stored(
        "alerts",
        alert_of(statement),
        alert_of(refused(21), level="critical", user="app", src_ip="10.0.3.9", event_ids=[]),
        alert_of(refused(21), user="app", src_ip="10.9.9.9", event_ids=[]),
        alert_of(refused(90), user="app", event_ids=[]),
    )
    return {"statement": statement, "denied": denied}


def _access(record: dict) -> dict:
    kept = ("event_id", "event_time", "cluster", "instance", "connection_id", "user")
    return {name: record[name] for name in kept}


@pytest.mark.parametrize(
    "filters", [{}, {"instance": ["db1"], "connection_id": ["7"]}, {"connection_id": ["7"]}]
)
def test_a_session_is_told_by_all_logs_in_order(two_sessions, ask, filters):
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
    stored("data_access", {**_access(records[0]), "data_class": ["pci"], "data_class_read": ["pci"]})
    found = sorted(ask("session_events"), key=lambda row: (row["event_time"], row["entry_offset"]))
    assert [(row["command"], row["data_classes"]) for row in found] == [
        ("CONNECT", ""),
        ("SELECT", "pci"),
        ("SET", ""),
        ("DISCONNECT", ""),
    ]


def test_sessions_are_told_apart_and_the_suspicious_come_first(two_sessions, ask):
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


def test_a_session_whose_begin_was_not_seen(stored, ask):
    stored("query_events", slow(30, query_id=5, connection_id=99))
    (found,) = ask("sessions")
    assert (found["note"], found["statements"], found["rows_sent"]) == ("began before", 1, 10)
    assert len(ask("session_events")) == 1


@pytest.mark.parametrize("query", ["sessions", "session_events", "session_alerts"])
@pytest.mark.parametrize("filters", [{}, {"instance": ["db'1"], "connection_id": ["no number"]}])
def test_where_there_is_no_session_there_is_nothing(admin, ask, query, filters):
    assert ask(query, **filters) == []


def test_refused_logins_and_statements_are_told_with_their_reason(stored, ask):
    stored(
        "audit_events",
        refused(30),
        refused(29, command="CHANGEUSER"),
        audit(20, status=1142, query_id=5, rule_set="tailrace-1"),
        audit(19, status=1142, event_class="table", command="READ"),
        audit(18, status=1064),
        audit(17, event_class="connection", command="Init DB", object="payroll", status=1044),
        audit(16, status=1142, event_name="query_start"),
    )
    stored("error_events", denied_message(30, 1))
    stored(
        "fingerprints", {"query_id": 5, "rule_set": "tailrace-1", "fingerprint": "drop t", "seen_at": at()}
    )
    found = ask("refused_access", reader="reader_compliance")
    password = "1045: wrong password, or no such account"
    columns = ("attempt", "reason", "refused_object", "source_logs")
    assert sorted(tuple(row[column] for column in columns) for row in found) == [
        ("login", password, "", "audit"),
        ("login", password, "", "audit, error log"),
        ("statement", "1044: no right to the database", "init db payroll", "audit"),
        ("statement", "1142: no right to the table", "drop t", "audit"),
    ]


def test_ways_lead_from_client_and_program_to_user_table_and_class(stored, ask):
    read = {**_access(audit(30)), "action_id": "a", "src_ip": "10.0.3.9", "program": "till", "rows_sent": 1}
    touched = {
        "tables": ["shop.cards", "shop.customers"],
        "data_class_read": ["pci", "pii"],
        "basis": ["log"],
    }
    unknown = {**_access(audit(20)), "action_id": "b", "user": "pci", "basis": ["unknown"]}
    stored("data_access", {**read, **touched}, {**read, **touched, "event_id": str(uuid.uuid4())}, unknown)
    ways = {}
    for row in ask("access_flow"):
        ways.setdefault((row["step"], row["source"], row["target"]), set()).add(row["action"])
    assert {way: len(actions) for way, actions in ways.items()} == {
        ("client → user", "10.0.3.9", "user app"): 1,
        ("client → user", "client unknown", "user pci"): 1,
        ("program → user", "program till", "user app"): 1,
        ("program → user", "program unknown", "user pci"): 1,
        ("user → table", "user app", "table shop.cards"): 1,
        ("user → table", "user app", "table shop.customers"): 1,
        ("user → table", "user pci", "table (unknown)"): 1,
        ("user → class", "user app", "class pci"): 1,
        ("user → class", "user app", "class pii"): 1,
        ("user → class", "user pci", "class (unknown)"): 1,
    }
    assert {row["user"] for row in ask("access_flow", data_class=["pci"])} == {"app"}


def test_an_alert_leads_to_what_its_client_or_user_did(stored, ask):
    record = audit(30)
    stored(
        "alerts",
        alert_of(record, user="app", src_ip="10.0.3.9", cluster="client"),
        alert_of(record, user="app", cluster="user"),
        alert_of(record, cluster="server"),
        alert_of(record, instance="", cluster="none"),
    )
    found = {row["cluster"]: unquote(row["link"]) for row in ask("alerts_shown")}
    assert "col:src_ip,op:IN,val:!('10.0.3.9')" in found["client"]
    assert "col:user,op:IN,val:!('app')" in found["user"]
    assert "col:instance,op:IN,val:!('db1')" in found["server"] and "col:user" not in found["server"]
    assert found["none"] == ""


def test_classes_of_events_that_each_server_tells(stored, ask):
    stored("audit_events", login(30), audit(20), audit(10), audit(10, source="general", instance="db2"))
    stored("query_events", slow(30, query_id=5))
    stored("error_events", denied_message(30))
    told = ask("rule_server_logs")
    found = {(row["instance"], row["log"], row["event_class"]): row["record_count"] for row in told}
    assert found == {
        ("db1", "audit", "connection"): 1,
        ("db1", "audit", "query"): 2,
        ("db1", "slowlog", "query"): 1,
        ("db1", "errorlog", "message"): 1,
        ("db2", "general", "query"): 1,
    }


def test_the_latest_accepted_push_is_in_force(stored, ask):
    said = {"pushed_by": "ann", "rules": 140, "detectors": 15}
    stored(
        "rule_pushes",
        {**said, "push_id": "a", "at": at(30), "accepted": True},
        {**said, "push_id": "b", "at": at(20), "accepted": True},
        {**said, "push_id": "b", "at": at(20), "accepted": True},
        {**said, "push_id": "c", "at": at(10), "accepted": False},
    )
    found = sorted((row["event_time"], row["outcome"]) for row in ask("rule_pushes"))
    assert [outcome for _, outcome in found] == ["accepted", "active", "refused"]


def answer(rule: str, instance: str = "db1", source: str = "", minutes_ago: float = 30, **columns) -> dict:
    """A rule coverage entry of the detect job; by default the rule can fire."""
    return {
        "cluster": "shop",
        "instance": instance,
        "source": source,
        "rule_id": rule,
        "rule_title": f"Rule {rule}",
        "level": "high",
        "tags": ["attack.credential-access", "attack.t1110"],
        "can_fire": True,
        "in_force": True,
        "changed_at": at(minutes_ago),
        "told_at": at(minutes_ago),
        **columns,
    }


LACKING = {"can_fire": False, "missing_fields": ["rows_sent"], "missing_classes": ["query"], "reason": "why"}


def test_where_rules_can_fire_and_what_they_lack_elsewhere(stored, ask):
    stored(
        "rule_coverage",
        answer("a"),
        answer("a", source="audit"),
        answer("a", source="errorlog", can_fire=False),
        answer("a", instance="db2", **LACKING),
        answer("a", instance="db2", source="audit", **LACKING),
        answer("b"),
        answer("b", source="audit", **LACKING),
        answer("b", instance="db2", can_fire=False, reason="it is for another kind of log", tags=[]),
    )
    found = {(row["rule_title"], row["instance"]): row for row in ask("rule_coverage")}
    assert {key: (row["fires"], row["fires_on"], row["missing"]) for key, row in found.items()} == {
        ("Rule a", "db1"): ("yes", "audit", ""),
        ("Rule a", "db2"): ("no", "", "events of the class query, rows_sent"),
        ("Rule b", "db1"): ("yes", "several together", ""),
        ("Rule b", "db2"): ("no", "", "another kind of log"),
    }
    assert found["Rule a", "db2"]["reason"] == "why"
    assert {row["tactic"] for row in found.values()} == {"Credential Access", "(none)"}


def test_the_latest_answer_counts_and_none_is_left_of_a_rule_that_is_gone(stored, ask):
    stored("rule_coverage", answer("a", **LACKING), answer("b"), answer("c"))
    stored("rule_coverage", answer("a", minutes_ago=20), answer("b", minutes_ago=20, in_force=False))
    stored("rule_coverage", answer("a", minutes_ago=40, **LACKING))
    assert sorted((row["rule_id"], row["fires"]) for row in ask("rule_coverage")) == [
        ("a", "yes"),
        ("c", "yes"),
    ]


def test_alerts_of_a_rule_in_the_range_and_ever(stored, ask):
    stored("rule_coverage", answer("a"), answer("a", instance="db2"), answer("b"))
    fired = {"rule_id": "a", "level": "high", "seen_at": at(), "updated_at": at()}
    stored(
        "alerts",
        {**fired, "alert_id": str(uuid.uuid4()), "instance": "db1", "event_time": at(10)},
        {**fired, "alert_id": str(uuid.uuid4()), "instance": "db1", "event_time": at(5), "silenced": True},
        {**fired, "alert_id": str(uuid.uuid4()), "instance": "db1", "event_time": at(600)},
        {**fired, "alert_id": str(uuid.uuid4()), "instance": "db2", "event_time": at(600)},
    )
    found = {(row["rule_id"], row["instance"]): row for row in ask("rule_coverage")}
    assert {key: row["alert_count"] for key, row in found.items()} == {
        ("a", "db1"): 2,
        ("a", "db2"): 0,
        ("b", "db1"): 0,
    }
    assert found["a", "db2"]["last_alert"] == f"{NOW - timedelta(minutes=600):%Y-%m-%d %H:%M:%S}"
    assert found["a", "db2"]["last_alert_anywhere"] == f"{NOW - timedelta(minutes=5):%Y-%m-%d %H:%M:%S}"
    assert found["b", "db1"]["last_alert"] is None and found["b", "db1"]["last_alert_anywhere"] is None


def test_alerts_are_listed_by_level_and_by_the_time_of_their_events(stored, user):
    # (level, minutes since the event, minutes since its detection): a log that is read late is detected last.
    raised = [("low", 1, 1), ("critical", 90, 2), ("high", 30, 29), ("high", 1000, 0)]
    stored(
        "alerts",
        *(
            alert_of(audit(event), level=level, rule_title=f"{level} {event}", updated_at=at(detected))
            for level, event, detected in raised
        ),
    )
    rows, total = triage.list_worst(user("analyst"), triage.AlertQuery(), 3)
    assert [row["rule_title"] for row in rows] == ["critical 90", "high 30", "high 1000"]
    assert total == 4


@pytest.fixture
def shown(admin, ask, user, metric, rendered):
    """Returns a number of a dashboard, computed by the metric of its dataset."""

    def run(name: str, dataset: str, query: str = "", **filters: list[str]) -> object:
        sql = rendered(query or dataset, *RANGE, **filters)
        (row,) = user("reader_security").rows(
            f"SELECT {metric(dataset, name, **filters)} AS shown FROM ({sql})"
        )
        return row["shown"]

    return run


def test_logins_of_which_no_log_tells_the_encryption_are_not_encrypted_ones(stored, shown):
    assert shown("shown_unencrypted", "logins") == "unknown<em>no login in any log</em>"
    stored("audit_events", *(login(60, number, connection_id=number) for number in range(1, 1007)))
    assert shown("shown_unencrypted", "logins") == "unknown<em>none of 1,006 logins is known</em>"
    assert shown("cnt_unencrypted", "logins") is None
    stored("audit_events", login(20, connection_type="tls"), login(19, connection_type="socket"))
    assert shown("shown_unencrypted", "logins") == "0<em>of 2 known, 1,006 unknown</em>"
    assert int(shown("cnt_unencrypted", "logins")) == 0


@pytest.mark.parametrize(
    ("name", "dataset"),
    [("cnt_successful", "logins"), ("cnt_refused", "logins"), ("cnt_refusals", "refused_access")],
)
def test_without_a_log_that_tells_of_logins_their_number_is_not_known(stored, shown, name, dataset):
    assert shown(name, dataset) is None
    stored("audit_events", audit(20, event_class="connection", command="DISCONNECT"))
    assert shown(name, dataset) == 0
    assert shown(name, dataset, instance=["db2"]) is None


def test_without_rules_nobody_knows_of_alerts(user, stored, shown):
    assert shown("cnt_open", "alerts", "alerts_shown") is None
    assert shown("active_rules", "rule_pushes") is None
    assert shown("cnt_nowhere", "rule_coverage") is None
    stored("rule_pushes", {"push_id": str(uuid.uuid4()), "at": at(5), "accepted": True, "rules": 7})
    assert shown("cnt_open", "alerts", "alerts_shown") == 0
    assert shown("active_rules", "rule_pushes") == 7


CLIENTS = [
    ({"host": "10.0.3.9", "ip": ""}, "10.0.3.9", ""),
    ({"host": "web1", "ip": "10.0.3.9"}, "10.0.3.9", "web1"),
    ({"host": "", "ip": "10.0.3.9"}, "10.0.3.9", ""),
    ({"host": "10.0.3.9", "ip": "10.0.3.9"}, "10.0.3.9", ""),
    ({"host": "::ffff:10.0.3.9", "ip": ""}, "10.0.3.9", ""),
    ({"host": "", "ip": "::FFFF:10.0.3.9"}, "10.0.3.9", ""),
    ({"host": "2001:DB8:0:0::7", "ip": ""}, "2001:db8::7", ""),
    ({"host": "web1", "ip": ""}, "", "web1"),
    ({"host": "localhost", "ip": ""}, "", "localhost"),
    ({"host": "", "ip": ""}, "", ""),
]
"""Possible contents of rows, including those of former versions: client address and host name."""


@pytest.mark.parametrize("table", ["audit_events", "query_events", "error_events"])
def test_the_client_has_one_form_whichever_column_holds_it(stored, admin, table):
    stored(table, *({"instance": f"db{n}", "event_time": at(), **row} for n, (row, *_) in enumerate(CLIENTS)))
    found = admin.rows(f"SELECT client_ip, client_host FROM tailrace.{table} ORDER BY instance")
    assert [(row["client_ip"], row["client_host"]) for row in found] == [tuple(each[1:]) for each in CLIENTS]


def test_the_filter_on_an_address_finds_all_that_it_did(stored, ask):
    """`ip` of most rows is empty: MariaDB's plugin has one field for both."""
    stored("audit_events", *(audit(5, n, **row) for n, (row, *_) in enumerate(CLIENTS)))
    found = ask("alerts_actions_of_entity", src_ip=["10.0.3.9"])
    assert len(found) == sum(address == "10.0.3.9" for _, address, _ in CLIENTS)
    assert {row["src_ip"] for row in found} == {"10.0.3.9"}
