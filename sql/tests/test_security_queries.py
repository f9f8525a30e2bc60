"""Tests the queries of the security dashboards on logins, sessions and refusals with known results."""

import uuid
from urllib.parse import unquote

import pytest
from client_forms import CLIENTS
from security_rows import RANGE, asking, at, audit, denied_message, identity_of, login, refused

from tailrace.evidence import framework


@pytest.fixture
def ask(user, rendered):
    return asking(user, rendered)


def test_an_attempt_that_three_logs_record_counts_once(stored, ask):
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


def test_refusals_of_one_moment_have_quiet_bars_beside_them(stored, user, rendered):
    """The chart's added rows do not depend on the first row that is read, which may be no refusal."""
    logins = (login(60 * hours, connection_id=100 + hours) for hours in range(20))
    stored("audit_events", *logins, *(refused(30, 8 * n, user=f"u{n}", connection_id=n) for n in range(9)))
    stored("error_events", *(denied_message(30, 8 * n, user=f"u{n}") for n in range(9)))
    day = (at(24 * 60)[:19].replace(" ", "T"), at(0)[:19].replace(" ", "T"))
    shown = "event_time >= '{}' AND event_time < '{}'".format(*(each.replace("T", " ") for each in day))
    rows = rendered("refused_access", *day, over_time=True)
    drawn = user("reader_compliance").rows(
        f"SELECT time, attempt, sum(counted) AS refusals FROM ({rows}) WHERE {shown} GROUP BY time, attempt"
    )
    assert len(drawn) >= 48
    assert {row["attempt"] for row in drawn} == {"login"}
    refusals = [row["refusals"] for row in drawn if row["refusals"]]
    assert sum(refusals) == 9
    assert len(refusals) <= 2  # a bar may begin within the moment


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


def test_encryption_is_known_where_a_log_records_it(stored, ask):
    stored("audit_events", *(login(30, connection_type=kind) for kind in ("tcp", "tls", "socket", "")))
    assert sorted(row["encrypted"] for row in ask("logins")) == ["local", "no", "unknown", "yes"]


def test_a_guessed_password_is_distinguished_from_guessing_and_from_a_mistake(stored, ask):
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


def test_refused_logins_and_statements_have_their_reason(stored, ask):
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


def test_the_evidence_of_refused_access_has_the_rows_of_the_dashboard(stored, ask, user):
    stored(
        "audit_events",
        refused(30),
        refused(25, user="root"),
        audit(20, status=1142),
        audit(20, status=1142, event_name="query_start"),
    )
    stored("error_events", denied_message(30, 1), denied_message(10))
    shown = ask("refused_access", reader="reader_compliance")
    evidence = framework.result("refused_access").statement()
    period = {"from": RANGE[0][:19].replace("T", " "), "to": RANGE[1][:19].replace("T", " ")}
    rows = user("auditor").rows(evidence, period)
    assert len(shown) == len(rows) == 4
    assert sorted(row["seen_in"] for row in rows) == sorted(row["source_logs"] for row in shown)


def test_ways_lead_from_client_and_program_to_user_table_and_class(stored, ask):
    read = {
        **identity_of(audit(30)),
        "action_id": "a",
        "src_ip": "10.0.3.9",
        "program": "till",
        "rows_sent": 1,
    }
    touched = {
        "tables": ["shop.cards", "shop.customers"],
        "data_class_read": ["pci", "pii"],
        "basis": ["log"],
    }
    unknown = {**identity_of(audit(20)), "action_id": "b", "user": "pci", "basis": ["unknown"]}
    stored("data_access", {**read, **touched}, {**read, **touched, "event_id": str(uuid.uuid4())}, unknown)
    ways = {}
    for row in ask("access_flow"):
        ways.setdefault((row["step"], row["source"], row["target"]), set()).add(row["action"])
    assert {way: len(actions) for way, actions in ways.items()} == {
        ("client → user", "client 10.0.3.9", "user app"): 1,
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


def test_logins_of_unknown_encryption_do_not_count_as_encrypted(stored, shown):
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
def test_without_a_log_that_records_logins_their_number_is_unknown(stored, shown, name, dataset):
    assert shown(name, dataset) is None
    stored("audit_events", audit(20, event_class="connection", command="DISCONNECT"))
    assert shown(name, dataset) == 0
    assert shown(name, dataset, instance=["db2"]) is None


def test_without_rules_nobody_knows_of_alerts(user, stored, shown):
    assert shown("cnt_open", "alerts", "alerts_shown") is None
    assert shown("cnt_active", "rule_coverage") is None
    assert shown("cnt_nowhere", "rule_coverage") is None
    stored("rule_pushes", {"push_id": str(uuid.uuid4()), "at": at(5), "accepted": True, "rules": 7})
    assert shown("cnt_open", "alerts", "alerts_shown") == 0
    rule = {"cluster": "shop", "instance": "db1", "rule_id": "r", "in_force": True, "changed_at": at(5)}
    stored(
        "rule_coverage",
        {**rule, "source": "", "told_at": at(5)},
        {**rule, "source": "audit", "told_at": at(5)},
    )
    assert shown("cnt_active", "rule_coverage") == 1


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
    assert ask("alerts_actions_of_entity") == [], "no entity is chosen"


def test_pages_show_a_client_in_one_form(stored, ask):
    """Logins, sessions and the values of their filters; most logs write the address as `host`."""
    forms = [row for row, address, _ in CLIENTS if address == "10.0.3.9"]
    for number, form in enumerate(forms):
        its = {"instance": f"db{number}", **form}
        stored("audit_events", login(20, **its), *(refused(19, second, **its) for second in range(5)))
    for query in ("logins", "logins_first_seen", "login_guesses", "refused_access", "sessions"):
        found = {(row["instance"], row["src_ip"]) for row in ask(query)}
        assert found == {(f"db{number}", "10.0.3.9") for number in range(len(forms))}, query
    for query in ("filters_audited", "filters_sessions"):
        assert {row["src_ip"] for row in ask(query)} == {"10.0.3.9"}, query
