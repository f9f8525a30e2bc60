"""Tests the queries of the dashboards for compliance officers on rows with known results."""

import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from compliance_rows import (
    NOW,
    RANGE,
    access,
    account,
    ago,
    asking,
    event,
    fact,
    lost,
    posting,
    stored,
    written,
)


@pytest.fixture
def ask(admin, user, rendered) -> Callable[..., list[dict]]:
    return asking(user, rendered)


def counted(ask, **filters) -> dict[tuple[str, str], int]:
    outer = "SELECT data_class, access, uniqExact(action) AS actions FROM ({}) GROUP BY ALL"
    return {
        (row["data_class"], row["access"]): row["actions"] for row in ask("data_access", outer, **filters)
    }


def test_an_action_is_counted_once_for_each_class_and_way(admin, ask):
    again = uuid.uuid4()
    stored(admin, "data_access", access("a1", ago(1), again, data_class_read=["secret"]))
    stored(
        admin,
        "data_access",
        access("a1", ago(1), again, data_class_read=["pci"], data_class_written=["pii"]),
        access("a1", ago(1), data_class_read=["pci"], basis=["statement"], rows_sent=3),
        access("a2", ago(2), data_class_read=["pci", "pii"], rows_sent=4),
        access("a2", ago(2), instance="db2", data_class_read=["pci"]),
        access("a3", ago(3), basis=["unknown"]),
        access("a4", ago(8), data_class_read=["pci"], rows_sent=1_000),
    )
    everything = {
        ("pci", "read"): 3,
        ("pii", "read"): 1,
        ("pii", "changed"): 1,
        ("(unknown)", "may have touched"): 1,
    }
    assert counted(ask) == everything
    assert counted(ask, data_class=["pii"]) == {key: each for key, each in everything.items() if "pii" in key}
    assert counted(ask, access=["changed"]) == {("pii", "changed"): 1}
    rows_sent = "SELECT sum(rows_sent) AS rows FROM ({})"
    assert ask("data_access", rows_sent) == [{"rows": 7}], "once, whatever the classes"
    assert ask("data_access", rows_sent, data_class=["pii"]) == [{"rows": 4}]


def test_hours_out_of_work_are_those_of_the_week(admin, ask):
    hours = [NOW.replace(minute=5) - timedelta(hours=number) for number in range(1, 6 * 24)]
    stored(
        admin,
        "data_access",
        *(access(f"a{n}", written(at), data_class_read=["pci"]) for n, at in enumerate(hours)),
    )
    late = [at for at in hours if at.weekday() >= 5 or not 7 <= at.hour < 19]
    outer = "SELECT countIf(out_of_hours) AS late FROM ({})"
    assert ask("data_access", outer) == [{"late": len(late)}]
    outer = "SELECT hour, weekday, uniqExact(action) AS actions FROM ({}) GROUP BY ALL"
    cells = {(row["weekday"][0], row["hour"]): row["actions"] for row in ask("data_access_hours", outer)}
    assert len(cells) == 7 * 24, "quiet hours too"
    assert sum(cells.values()) == len(hours)
    assert all(cells[str(at.isoweekday()), f"{at:%H}"] > 0 for at in hours)


def test_records_have_user_operation_and_source_logs(admin, ask):
    text = {"query_id": 0xAB, "fingerprint": "select ? from cards", "seen_at": ago(1)}
    stored(admin, "fingerprints", text)
    recorded = {
        "data_class_read": ["pci"],
        "data_class_written": ["pci"],
        "tables": ["shop.cards"],
        "rows_sent": 5,
    }
    stored(
        admin,
        "data_access",
        access("a1", ago(1), query_id=0xAB, connection_id=77, host="localhost", **recorded),
        access("a2", ago(2), basis=["unknown", "log"]),
    )
    known, unknown = ask("data_access_records", "SELECT * FROM ({}) ORDER BY accessed_at DESC")
    assert (known["classes"], known["how"], known["origin"]) == ("pci", "read, changed", "localhost")
    assert (known["statement"], known["basis"]) == ("select ? from cards", "named by the log")
    assert "/superset/dashboard/session/" in known["session"] and "%2777%27" in known["session"]
    assert "00000000000000AB" in known["link"]
    assert (unknown["is_unknown"], unknown["basis"]) == (True, "named by the log, unknown")
    assert (unknown["session"], unknown["link"], unknown["statement"]) == ("", "", "(not known)")
    of_class = ask("data_access_records", data_class=["pci"])
    assert [row["user"] for row in of_class] == ["app"]


def store_actions_of_a_view(admin) -> None:
    """Stores an action of three records, one of two, and one of which only the statement is known."""
    text = {"query_id": 0xAC, "fingerprint": "select * from v_cards", "seen_at": ago(1)}
    stored(admin, "fingerprints", text)
    statement = {
        "query_id": 0xAC,
        "connection_id": 77,
        "verb": "SELECT",
        "source": "audit",
        "database": "shop",
    }
    row = {"data_class_read": ["pci"], "tables": ["shop.cards"], "connection_id": 77, "source": "audit"}
    slow = {**statement, "source": "slowlog", "rows_sent": 9, "outcome": "unknown"}
    stored(
        admin,
        "data_access",
        access("a1", ago(1), **row),
        access("a1", ago(1), basis=["statement"], data_class_read=["pci"], **statement),
        access("a1", ago(1), basis=["statement"], data_class_read=["pci"], **slow),
        access("a2", ago(2), **row),
        access("a2", ago(2), basis=["unknown"], **statement),
        access("a3", ago(3), basis=["unknown"], **statement),
    )


def test_an_action_is_one_record_whichever_logs_contain_it(admin, ask):
    """Records of MariaDB's plugin: one for the statement, and one without statement for each table."""
    store_actions_of_a_view(admin)
    recorded, of_a_view, unknown = ask("data_access_records", "SELECT * FROM ({}) ORDER BY accessed_at DESC")
    assert recorded.items() >= {"statement": "select * from v_cards", "tables": "shop.cards"}.items()
    assert recorded.items() >= {"outcome": "success", "source_logs": "audit, slowlog"}.items()
    assert recorded.items() >= {"how": "read", "rows_sent": 9}.items()
    assert (recorded["basis"], recorded["database"]) == ("named by the log, read from the statement", "shop")
    assert (of_a_view["classes"], of_a_view["how"], of_a_view["is_unknown"]) == ("pci", "read", False)
    assert (of_a_view["statement"], of_a_view["basis"]) == ("select * from v_cards", "named by the log")
    assert unknown.items() >= {"classes": "(unknown)", "how": "may have touched", "is_unknown": True}.items()


def store_logs_read_one_after_the_other(admin) -> None:
    """Stores records of an audit log and a slow log, most of which have different actions."""
    session = {"connection_id": 77, "query_id": 0xAB, "data_class_read": ["pci"], "data_class": ["pci"]}
    audited = {**session, "source": "audit", "tables": ["cards"]}
    slow = {**session, "source": "slowlog", "tables": ["shop.cards"], "outcome": "unknown", "rows_sent": 4}
    start = (NOW - timedelta(days=1)).replace(microsecond=0)

    def seconds(number: float) -> str:
        return written(start + timedelta(seconds=number))

    stored(
        admin,
        "data_access",
        access("a1", seconds(0), **audited),
        access("a2", seconds(1), **audited),
        access("a3", seconds(20), **audited),
        access("s1", seconds(0.7), **slow),
        access("s2", seconds(20.9), **slow),
        access("s3", seconds(23.5), **slow),
        access("s4", seconds(0.7), **{**slow, "connection_id": 78}),
        access("joined", seconds(1.5), **audited),
        access("joined", seconds(1.6), **slow),
    )
    stored(
        admin,
        "audit_events",
        event(
            1.2, "app", event_class="connection", command="CONNECT", connection_id=77, program_name="shop-api"
        ),
        event(
            1.1, "ops", event_class="connection", command="CONNECT", connection_id=78, program_name="mysql"
        ),
    )


def test_logs_that_arrive_hours_apart_record_one_action(admin, ask):
    """The job gives records of logs that it reads one after the other different actions."""
    store_logs_read_one_after_the_other(admin)
    rows = ask("data_access_records", "SELECT * FROM ({}) ORDER BY accessed_at, source_logs, session")
    found = [(row["source_logs"], row["outcome"], row["program"], row["rows_sent"]) for row in rows]
    both, alone = ("audit, slowlog", "success", "shop-api", 4), ("slowlog", "unknown", "shop-api", 4)
    assert sorted(found, key=str) == sorted(
        [
            both,
            both,
            both,
            ("audit", "success", "shop-api", None),
            alone,
            ("slowlog", "unknown", "(unknown)", 4),
        ],
        key=str,
    )
    assert counted(ask) == {("pci", "read"): 6}
    outer = "SELECT uniqExact(action) AS actions FROM ({})"
    assert ask("data_access_hours", outer + " WHERE action IS NOT NULL") == [{"actions": 6}]
    assert ask("access_flow", outer + " WHERE step = 'user → class'") == [{"actions": 6}]
    assert (
        sum(row["actions"] for row in admin.rows("SELECT actions FROM tailrace.cardholder_data_reads")) == 6
    )


def test_a_replay_that_separates_an_action_counts_at_once(admin, ask):
    """Rows that a replay replaced may still be stored; a third log has no part in the first action."""
    session = {"connection_id": 77, "query_id": 0xAB, "data_class_read": ["pci"], "data_class": ["pci"]}
    start = (NOW - timedelta(days=1)).replace(microsecond=0)
    audited, slow = uuid.uuid4(), uuid.uuid4()

    def record(action: str, second: float, source: str, event: uuid.UUID | None = None) -> dict:
        return access(action, written(start + timedelta(seconds=second)), event, source=source, **session)

    stored(admin, "data_access", record("a1", 0, "audit", audited), record("a1", 1, "slowlog", slow))
    stored(admin, "data_access", record("s1", 1, "slowlog", slow))
    stored(admin, "data_access", record("a2", 60, "audit"), record("a2", 60.1, "slowlog"))
    stored(admin, "data_access", record("g2", 60.2, "general"), record("g3", 90, "general"))
    rows = ask("data_access_records", "SELECT * FROM ({}) ORDER BY accessed_at, source_logs")
    assert [row["source_logs"] for row in rows] == ["audit, slowlog", "audit, slowlog", "general", "general"]


def test_minutes_of_a_day_are_those_of_the_ledger(admin, ask, user, rendered):
    start = (NOW - timedelta(days=2)).replace(second=0)
    watched = [number for number in range(120) if not 40 <= number < 50]
    minutes = {number: start + timedelta(minutes=number, seconds=20) for number in watched}
    stored(
        admin,
        "ledger",
        *(posting(at, 100 * (number + 1), generation=int(number > 0)) for number, at in minutes.items()),
        posting(minutes[100], 0, kind="FRONTIER", to_offset=11_000),
        lost(minutes[20], 1_950, 2_150),
        lost(minutes[30], 3_050, 3_100),
        lost(minutes[35], 3_050, 3_100, sign=-1),
        posting(minutes[119], 0, kind="CENSUS", source="slowlog", log="/s.log", generation=0, inode=8),
    )
    total = "SELECT source, state, sum(minutes) AS minutes FROM ({}) GROUP BY ALL"
    of_days, of_ledger = ask("coverage_days", total), ask("coverage", total)
    found = {row["state"]: row["minutes"] for row in of_days if row["source"] == "audit"}
    assert (found["missing"], found["behind"]) == (3, 10)
    assert found["covered"] == len(watched) - 13
    assert sorted(map(str, of_days)) == sorted(map(str, of_ledger)), "both mean the same by each state"


def test_retention_is_what_is_applied(admin, ask):
    event = {"event_id": str(uuid.uuid4()), "instance": "db1", "source": "audit", "event_class": "query"}
    stored(admin, "audit_events", {**event, "event_time": ago(100)}, {**event, "event_time": ago(1)})
    (row,) = ask("coverage_retention")
    assert (row["policy_days"], row["days_back"], row["reaches"]) == (
        400,
        100,
        "three months, no older record",
    )


def test_accounts_are_judged_as_by_the_auditors_view(admin, ask, user, rendered):
    for kind in ("accounts", "grants_global"):
        at = ago(0, 1)[:-3]
        stored(admin, "server_snapshots", {"instance": "db1", "kind": kind, "at": at, "status": "ok"})
    changed = f"{NOW - timedelta(days=200):%Y-%m-%dT%H:%M:%SZ}"
    rights = {"grantee": "'boss'@'%'", "privileges": "SUPER", "object": "*.*", "grant_option": "no"}
    stored(
        admin,
        "server_facts",
        account("app", password_changed_at=changed),
        account("boss"),
        account("old"),
        account(""),
        account("readers", "", role="yes"),
        fact("grants_global", "'boss'@'%' global *.*", rights),
    )
    stored(admin, "audit_events", event(1, "app"), event(120, "old"))

    found = {row["account"]: row for row in ask("accounts")}
    states = {name: row["state"] for name, row in found.items()}
    assert states == {
        "'app'@'%'": "used",
        "'boss'@'%'": "never used",
        "'old'@'%'": "not for 90 days",
        "''@'%'": "not known",
        "'readers'@''": "role",
    }
    unused = user("reader_compliance").rows("SELECT account, state FROM tailrace.accounts_unused")
    assert {row["account"]: row["state"] for row in unused} == {
        name: state for name, state in states.items() if state not in ("used", "role")
    }
    assert [name for name, row in found.items() if row["is_administrator"]] == ["'boss'@'%'"]
    assert found["'app'@'%'"]["password_days"] == 200
    assert {name: row["weak_password"] for name, row in found.items()} == {
        **dict.fromkeys(found, "not known"),
        "'app'@'%'": "older than 90 days",
        "'readers'@''": "",
    }
    assert found["'boss'@'%'"]["privileges"] == "SUPER on *.*"
    assert_ages_end_now(found, rendered, user)


def assert_ages_end_now(found: dict[str, dict], rendered, user) -> None:
    """Also for a range that ends in the future, such as the current month."""
    month = (RANGE[0], (NOW + timedelta(days=20)).isoformat())
    shown = user("reader_compliance").rows(rendered("accounts", *month))
    for name in ("days_unused", "password_days"):
        assert {row["account"]: row[name] for row in shown} == {key: row[name] for key, row in found.items()}


def test_an_administrator_remains_one_until_a_later_snapshot(admin, ask):
    rights = {"grantee": "'boss'@'%'", "privileges": "SUPER", "object": "*.*", "grant_option": "no"}
    seen = {"since": ago(60), "last_seen": ago(60)}
    stored(
        admin,
        "server_facts",
        {**account("boss"), **seen},
        {**fact("grants_global", "'boss'@'%' global *.*", rights), **seen},
    )
    snapshot = {"instance": "db1", "status": "ok", "at": ago(60)}
    stored(admin, "server_snapshots", *({**snapshot, "kind": kind} for kind in ("accounts", "grants_global")))

    (found,) = ask("accounts")
    assert (found["administrator"], found["privileges"]) == ("yes", "SUPER on *.*")


def number(ask, metric, name: str, dataset: str, query: str = "", **filters) -> object:
    """Returns a number of a dashboard, computed by the metric of its dataset."""
    outer = f"SELECT {metric(dataset, name, **filters)} AS shown FROM ({{}})"
    return ask(query or dataset, outer, **filters)[0]["shown"]


def test_accounts_that_nobody_knows_are_not_none(admin, ask, metric):
    def shown(name: str) -> object:
        return number(ask, metric, name, "accounts")

    assert shown("shown_never_used") == "unknown<em>no account snapshot</em>"
    assert shown("cnt_accounts") is None and number(ask, metric, "cnt_shared", "accounts_use") is None

    at = ago(0, 1)[:-3]
    stored(admin, "server_snapshots", {"instance": "db1", "kind": "accounts", "at": at, "status": "ok"})
    aged = {"password_changed_at": f"{NOW - timedelta(days=200):%Y-%m-%dT%H:%M:%SZ}"}
    stored(admin, "server_facts", account("a"), account("b", **aged), account("r", role="yes"))
    assert shown("shown_never_used") == "unknown<em>none of 2 accounts is known</em>"
    assert shown("shown_dormant") == "unknown<em>none of 2 accounts is known</em>"
    assert shown("shown_administrators") == "unknown<em>none of 2 accounts is known</em>"
    assert shown("shown_weak") == "1<em>of 1 known, 1 unknown</em>"

    stored(admin, "audit_events", event(1, "a"))
    stored(admin, "server_snapshots", {"instance": "db1", "kind": "grants_global", "at": at, "status": "ok"})
    assert shown("shown_never_used") == "0<em>of 1 known, 1 unknown</em>"
    assert shown("shown_administrators") == "0<em>of 2 accounts</em>"


def test_minutes_are_measured_against_the_range_that_is_shown(admin, ask, metric):
    assert number(ask, metric, "part_covered", "coverage_days") is None
    assert number(ask, metric, "unknown_minutes", "coverage") is None
    week = 7 * 24 * 60
    stored(admin, "ledger", posting(NOW - timedelta(minutes=9), 0, kind="FRONTIER", to_offset=10))
    assert number(ask, metric, "min_unknown", "coverage_days") == pytest.approx(week, abs=2)
    assert number(ask, metric, "part_covered", "coverage_days") is None, "without a census it is unknown"
    assert "N/A" in number(ask, metric, "linked_covered", "coverage_days")
    stored(admin, "ledger", *(posting(NOW - timedelta(minutes=minutes), 10) for minutes in range(1, 21)))
    for dataset, part, unknown in (
        ("coverage_days", "part_covered", "min_unknown"),
        ("coverage", "covered_share", "unknown_minutes"),
    ):
        assert number(ask, metric, part, dataset) == pytest.approx(20 / week, abs=2 / week), dataset
        assert number(ask, metric, unknown, dataset) == pytest.approx(week - 20, abs=2), dataset
    # Superset lets through what begins within the range.
    begun = f"SELECT sum(minutes) AS shown FROM ({{}}) WHERE from_time >= '{RANGE[0][:19].replace('T', ' ')}'"
    assert ask("coverage", begun)[0]["shown"] == pytest.approx(week, abs=2)


def test_no_known_server_is_not_no_server_without_audit(ask, metric):
    assert number(ask, metric, "cnt_unaudited", "coverage_servers") is None


@pytest.mark.parametrize(
    ("dataset", "name"),
    [("privileged", "cnt_auditing"), ("data_access", "cnt_known"), ("access_flow", "cnt_classes")],
)
def test_without_a_log_that_records_it_a_number_is_unknown(admin, ask, metric, dataset, name):
    assert number(ask, metric, name, dataset) is None
    stored(admin, "audit_events", event(1, "a"))
    assert number(ask, metric, name, dataset) == 0
    assert number(ask, metric, name, dataset, instance=["db2"]) is None


def test_hours_without_an_access_have_no_colour(admin, ask, metric):
    stored(admin, "data_access", access("a1", ago(1), data_class_read=["pci"]))
    accesses = metric("data_access_hours", "cnt_actions")
    outer = f"SELECT hour, weekday, {accesses} AS actions FROM ({{}}) GROUP BY ALL"
    assert sorted(row["actions"] or 0 for row in ask("data_access_hours", outer)) == [0] * 167 + [1]
    assert [row["actions"] for row in ask("data_access_hours", outer)].count(None) == 167
