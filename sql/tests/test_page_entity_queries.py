"""Tests what the pages of entities read, on rows with known results, through tailrace_pages.entities."""

from datetime import timedelta
from typing import Any

import pytest
from entity_rows import BEGIN, HOUR, SPAN, Store, minutes_in, reading
from security_rows import NOW, alert_of, audit, denied_message, identity_of, login, refused, slow

from tailrace_pages.entities import listing, overview, records
from tailrace_pages.entities.kinds import SESSION, Entity
from tailrace_pages.entities.reading import Reading
from tailrace_pages.time_range import TimeRange

__all__ = ["reading"]  # fixture


@pytest.fixture
def logged(stored) -> dict:
    """Three hours into the range: ann logs in from 10.0.3.9, reads cards, and fails once. bob is refused."""
    at = minutes_in(3 * HOUR)
    read = audit(
        at, 2, user="ann", verb="SELECT", query_id=5, rule_set="tailrace-2", tables_read=["shop.cards"],
        server_query_id=81,
    )  # fmt: skip
    touched = audit(
        at, 2.1, user="ann", event_class="table", command="READ", object="cards", tables_read=["shop.cards"],
        server_query_id=81,
    )  # fmt: skip
    failed = audit(at, 3, user="ann", verb="UPDATE", status=1142, query_id=6, tables_written=["shop.cards"])
    attempt = refused(at, 9, user="bob", ip="", host="::ffff:10.0.3.9", connection_id=9)
    stored(
        "audit_events",
        login(at, user="ann", program_name="mysql"),
        login(at, 0.2, user="ann", source="general", command="Connect"),
        read,
        touched,
        failed,
        attempt,
        audit(at, 10, user="ann", event_class="connection", command="DISCONNECT"),
        login(minutes_in(-3 * HOUR), user="ann"),
        login(minutes_in(-30 * HOUR), user="other", connection_id=3),
    )
    entry = {"query_id": 5, "tables_read": ["shop.cards"], "user": "ann", "weight": 1}
    other = {"user": "web", "host": "app-1", "ip": "", "connection_id": 5, "query_id": 8, "error_code": 1205}
    stored("query_events", slow(at, 2.5, **entry, error_code=1287), slow(at + 60, **other))
    stored("error_events", denied_message(at, 9.2, user="bob", host="10.0.3.9"))
    stored(
        "fingerprints",
        {"query_id": 5, "rule_set": "tailrace-2", "fingerprint": "select pan", "seen_at": f"{NOW:%F %T}"},
    )
    stored(
        "data_access",
        {**identity_of(read), "action_id": "a", "data_class": ["pci"], "data_class_read": ["pci"],
         "tables": ["shop.cards"], "src_ip": "10.0.3.9", "program": "mysql", "source": "audit"},
    )  # fmt: skip
    return {"read": read, "failed": failed, "refused": attempt}


def numbers(reading: Reading) -> dict[str, tuple[str, str]]:
    found = overview.numbers(
        reading.entity.measures,
        reading.timeline,
        reading.alerts_about,
        reading.logs,
        reading.span,
        reading.read,
    )
    return {item["title"]: (item["value"], item["note"]) for item in found}


def test_an_action_in_several_logs_counts_once(logged, reading):
    found = numbers(reading("user", "ann"))
    assert {title: value for title, (value, _) in found.items()} == {
        "Logins": "1",
        "Refused logins": "0",
        "Statements": "2",
        "Errors": "1",
        "Alerts": "0",
    }
    assert found["Logins"][1] == "unchanged, 1 in the previous period, coverage unknown"
    assert found["Statements"][1] == "none in the previous period, coverage unknown"


def test_a_client_is_found_in_every_form_of_its_address(logged, reading):
    for address in ("10.0.3.9", "::ffff:10.0.3.9", "::FFFF:0a00:0309"):
        found = numbers(reading("client", address))
        assert (found["Logins"][0], found["Refused logins"][0], found["Statements"][0]) == ("1", "1", "2")
        assert [row["class"] for row in reading("client", address).classes] == ["pci"], address
    clients = {row["value"] for row in reading("user", "bob").others if row["dimension"] == "client"}
    assert clients == {"10.0.3.9"}
    of_host = numbers(reading("client", "app-1"))
    assert (of_host["Statements"][0], of_host["Errors"][0]) == ("1", "1")


def test_a_table_counts_statements_and_not_their_rows_for_single_tables(logged, reading):
    found = numbers(reading("table", "shop.cards"))
    assert {title: value for title, (value, _) in found.items()} == {
        "Reads": "1",
        "Changes": "1",
        "Refused access": "1",
        "Errors": "1",
        "Alerts": "0",
    }


def test_all_users_of_a_client_are_behind_a_link(stored, reading):
    stored(
        "audit_events", *(refused(minutes_in(HOUR + number), user=f"u{number:02}") for number in range(60))
    )
    of_client = reading("client", "10.0.3.9")
    users = listing.others(of_client.entity, of_client.others, of_client.logs, {})[0]
    few, all_of_them = listing.limited(users), listing.limited(users, whole="users")
    assert (few.caption, few.is_cut, few.all_text) == ("Users: 10 of 60", True, "Show all 60 users")
    assert (all_of_them.caption, len(all_of_them.rows), all_of_them.is_cut) == ("Users", 60, False)
    assert len(listing.limited(users, whole="programs").rows) == 10


def test_who_read_a_data_class(logged, reading):
    of_class = reading("class", "pci")
    assert numbers(of_class)["Reads"][0] == "1"
    others = listing.others(of_class.entity, of_class.others, of_class.logs, {})
    (users,) = (table for table in others if table.key == "users")
    assert [(row["value"], row["reads"], row["address"]) for row in users.rows] == [
        ("ann", 1, "/tailrace/entities/user/ann/")
    ]
    of_user = reading("user", "ann")
    tables = listing.tables(of_user.others, {}).rows
    assert [(row["value"], row["reads"], row["changes"]) for row in tables] == [("shop.cards", 1, 1)]
    assert [row["class"] for row in of_user.classes] == ["pci"]
    assert [row["class"] for row in reading("client", "10.0.3.9").classes] == ["pci"]
    assert [row["class"] for row in reading("table", "cards").classes] == ["pci"], "logs name it so, too"
    assert reading("table", "ards").classes == []


def test_numbers_of_a_data_class_are_actions_of_all_logs(stored, reading):
    """Records of two logs in two bars, which the job read hours apart, are one action."""
    its = {"query_id": 5, "data_class": ["pci"], "data_class_read": ["pci"], "tables": ["shop.cards"]}
    audited, slow = audit(minutes_in(3 * HOUR), 0, user="ann"), audit(minutes_in(3 * HOUR), 1.5, user="ann")
    stored(
        "data_access",
        {**identity_of(audited), **its, "action_id": "a", "source": "audit"},
        {**identity_of(slow), **its, "action_id": "b", "source": "slowlog"},
    )
    of_class = reading("class", "pci")
    assert sum(bar["reads"] for bar in of_class.timeline if bar["is_current"]) == 1
    assert [row["reads"] for row in of_class.classes] == [1]


def test_the_records_of_all_logs_in_order(logged, reading):
    of_client = reading("client", "10.0.3.9")
    rows, following = of_client.page("", None)
    shown = of_client.shown(rows, {"range": "24h"})
    assert following is None
    assert [(row["shown_log"], row["shown_kind"], row["user"], row["error_code"]) for row in shown] == [
        ("audit", "login or logout", "ann", ""),
        ("error", "refused login", "bob", "1045"),
        ("audit", "refused login", "bob", "1045"),
        ("audit", "failed statement", "ann", "1142"),
        ("slow query", "statement", "ann", "1287"),
        ("audit", "access to a table", "ann", ""),
        ("audit", "statement", "ann", ""),
        ("general", "login or logout", "ann", ""),
        ("audit", "login or logout", "ann", ""),
    ]  # fmt: skip
    read = next(row for row in shown if row["id"] == logged["read"]["event_id"])
    assert (read["what"], read["classes"], read["tables"]) == ("select pan", "pci", "shop.cards")
    sent = [(row["shown_log"], row["shown_kind"], row["shown_rows"]) for row in shown if row["shown_rows"]]
    assert sent == [
        ("audit", "failed statement", "unknown"),
        ("slow query", "statement", "10"),
        ("audit", "access to a table", "unknown"),
        ("audit", "statement", "unknown"),
    ], "never 0 where the log does not contain it"
    assert read["address"] == "/tailrace/queries/0000000000000005/?range=24h"
    assert read["session_address"].startswith("/tailrace/sessions/shop/db1/7/?from=")
    of_user = reading("user", "ann")
    counted = {
        kind: len(of_user.page(kind, None)[0]) for kind in ("failed", "refused", "alert", "connection")
    }
    assert counted == {"failed": 1, "refused": 0, "alert": 0, "connection": 3}


def test_pages_have_every_record_once_also_those_of_one_microsecond(stored, reading):
    at = minutes_in(5 * HOUR)
    same = [audit(at, 1, user="ann", entry_offset=number) for number in range(7)]
    later = [audit(at, 2 + number, user="ann") for number in range(3)]
    stored("audit_events", *same, *later)
    stored("alerts", alert_of(same[0], user="ann"), alert_of(later[-1], user="ann"))
    of_user, before, seen = reading("user", "ann"), None, []
    for _ in range(4):
        rows, before = of_user.page("", before, 3)
        seen += [row["id"] for row in rows]
    assert before is None or of_user.page("", before, 3) == ([], None)
    assert len(seen) == len(set(seen)) == 12
    assert set(seen) >= {row["event_id"] for row in same + later}
    reversed_, after, found = reading("user", "ann", oldest=True), None, []
    for _ in range(4):
        rows, after = reversed_.page("", after, 3)
        found += [row["id"] for row in rows]
    assert (found, after) == (seen[::-1], None)


def test_a_csv_has_the_rows_of_all_pages(logged, reading, monkeypatch):
    monkeypatch.setattr(records, "ROWS_AT_ONCE", 2)
    rows = reading("client", "10.0.3.9").all("", {})
    assert len(rows) == len({row["id"] for row in rows}) == 9
    assert [row["event_time"] for row in rows] == sorted((row["event_time"] for row in rows), reverse=True)
    assert reading("client", "10.0.3.9", oldest=True).all("", {}) == rows[::-1]


def test_alerts_about_it_alerts_that_name_its_records_and_alerts_in_its_sessions(logged, stored, reading):
    stored(
        "alerts",
        alert_of(logged["failed"], rule_title="about", user="Ann", event_ids=[]),
        alert_of(logged["failed"], rule_title="names"),
        alert_of(logged["refused"], rule_title="of bob", user="bob"),
        alert_of(logged["read"], rule_title="entity", entity={"user": "ANN"}, event_ids=[]),
    )
    found = reading("user", "ann").alerts
    assert {row["rule_title"]: row["relation"] for row in found} == {
        "about": "about it",
        "names": "names its records",
        "entity": "about it",
    }
    assert {row["rule_title"] for row in reading("user", "bob").alerts} == {"of bob"}
    of_table = {row["rule_title"]: row["relation"] for row in reading("table", "shop.cards").alerts}
    assert of_table == {"names": "names its records"}
    assert numbers(reading("user", "ann"))["Alerts"][0] == "3"


def test_the_most_severe_alerts_are_first_and_records_are_in_order_of_time(stored, reading):
    at = minutes_in(4 * HOUR)
    early, late = audit(at, user="ann"), audit(at - 1, user="ann")
    levels = ("informational", "medium", "critical", "low", "high")
    stored("audit_events", early, late)
    stored("alerts", *(alert_of(event, level=each, user="ann") for each in levels for event in (early, late)))
    of_user = reading("user", "ann")

    shown = [(row["level"], row["event_time"].minute) for row in listing.alerts(of_user.alerts_of_range).rows]
    first, second = (row["event_time"].minute for row in of_user.page("statement", None)[0])
    by_severity = ("critical", "high", "medium", "low", "informational")
    assert shown == [(each, minute) for each in by_severity for minute in (first, second)]
    times = [row["event_time"] for row in of_user.page("", None)[0]]
    assert (len(times), times) == (12, sorted(times, reverse=True))


def test_alerts_in_the_same_session_do_not_count(stored, reading):
    at = minutes_in(4 * HOUR)
    changed = audit(at, user="root", connection_id=40)
    read = audit(at, 1, user="ann", connection_id=40, tables_read=["shop.cards"])
    stored("audit_events", changed, read)
    stored("alerts", alert_of(changed, rule_title="of root", user="root"))
    of_table = reading("table", "shop.cards")
    assert [row["relation"] for row in of_table.alerts] == ["in the same session"]
    assert numbers(of_table)["Alerts"][0] == "0"
    assert [row["shown_kind"] for row in of_table.shown(of_table.page("", None)[0], {})] == ["statement"]


def test_a_number_is_unknown_without_a_log_that_contains_it(stored, reading):
    stored("query_events", slow(minutes_in(2 * HOUR), user="ann", instance="db2", weight=10))
    found = numbers(reading("user", "ann"))
    assert found["Logins"] == ("unknown", "no audit log or general log in this range")
    assert found["Errors"][0] == "unknown", "its slow log has no errors of statements"
    assert found["Statements"] == ("10", "previous period not covered")
    assert found["Refused logins"][0] == "unknown"

    stored("query_events", slow(minutes_in(3 * HOUR), user="ann", instance="db2", error_code=0))
    assert numbers(reading("user", "ann"))["Errors"] == ("0", "previous period not covered")
    stored("audit_events", login(minutes_in(2 * HOUR), user="ann"))
    assert numbers(reading("user", "ann"))["Logins"] == (
        "1",
        "previous period not covered; known for 1 of 2 servers",
    )
    assert numbers(reading("user", "ann", instance="db1"))["Logins"][1] == "previous period not covered"


def test_the_sessions_of_a_connection_id(stored, reading):
    first, second = minutes_in(2 * HOUR), minutes_in(8 * HOUR)
    stored(
        "audit_events",
        login(first, user="ann", connection_id=17, ip="", host="::ffff:10.0.3.9"),
        audit(first, 5, user="ann", connection_id=17),
        *[login(second, user="bob", connection_id=17), audit(second, 5, user="bob", connection_id=17)],
        login(second, 0.1, user="bob", connection_id=17, source="general"),
        audit(second, user="bob", connection_id=18),
        audit(second, user="bob", connection_id=17, instance="db2"),
    )
    its = reading(SESSION, cluster="shop", instance="db1", connection=17)
    assert numbers(its)["Logins"][0] == "2"
    listed = listing.sessions(its.entity, its.logins, its.span.until)
    assert [(row["user"], row["client"]) for row in listed.rows] == [("bob", "10.0.3.9"), ("ann", "10.0.3.9")]
    assert f"from={BEGIN + timedelta(hours=8):%Y-%m-%dT%H}" in listed.rows[0]["address"]
    assert len(its.page("", None)[0]) == 5
    stored("audit_events", audit(first, connection_id=2**64 - 1))
    assert len(reading(SESSION, instance="db1", connection=2**64 - 1).page("", None)[0]) == 1


def test_the_latest_record_of_any_time(logged, reading):
    later = TimeRange(SPAN.until, SPAN.until + timedelta(hours=1))
    found = reading("client", "10.0.3.9", later)
    assert found.page("", None) == ([], None)
    assert found.latest().replace(microsecond=0) == BEGIN + timedelta(hours=3, seconds=10)
    assert reading("user", "nobody").latest() is None


NAMES = ("o'brien", "a/b\\c", "x\ty\nz", "журнал", "{name:String}", "%41", "\x01\x7f")


def test_any_name_is_found(stored, reading):
    at = minutes_in(2 * HOUR)
    stored("audit_events", *[audit(at, user=name, host=name, ip="", tables_read=[name]) for name in NAMES])
    store = _Escaping(reading("user", "").store)
    for kind in ("user", "client", "table"):
        found = [len(Reading(store, Entity(kind, name), SPAN).page("", None)[0]) for name in NAMES]
        assert found == [1] * len(NAMES), kind


class _Escaping:
    """ClickHouse reads parameters of HTTP as escaped texts; its driver in Superset escapes them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def rows(self, query: str, **parameters: Any) -> list[dict[str, Any]]:
        return self._store.rows(query, **{name: _escaped(value) for name, value in parameters.items()})


def _escaped(value: object) -> object:
    signs = {"\\": "\\\\", "\t": "\\t", "\n": "\\n"}
    return "".join(signs.get(each, each) for each in value) if isinstance(value, str) else value


def test_the_list_counts_the_records_that_the_pages_have(logged, reading):
    """The refusal of bob is in an audit log and in an error log."""
    since = BEGIN.replace(hour=0, minute=0, second=0, microsecond=0)
    days = TimeRange(since, since + timedelta(days=3))
    given = {"text": "", "cluster": "", "instance": "", "classes_from": f"{since:%F %T}", **days.parameters()}
    listed = {
        (row["entity_kind"], row["name"]): row["records"]
        for row in reading("user", "").store.rows("page_entity_search", **given)
    }
    assert listed["user", "bob"] == 2
    for kind, name in (("user", "bob"), ("user", "ann"), ("client", "10.0.3.9"), ("table", "shop.cards")):
        assert listed[kind, name] == len(reading(kind, name, days).page("", None)[0])


def test_the_search_finds_names_of_every_kind(logged, stored, reading):
    given = {"from": f"{BEGIN:%F %T}", "to": f"{SPAN.until:%F %T}", "cluster": "", "instance": ""}
    store = reading("user", "").store

    def found(text: str) -> list[tuple[str, str]]:
        rows = store.rows("page_entity_search", text=text, classes_from=given["from"], **given)
        return [(row["entity_kind"], row["name"]) for row in rows]

    assert found("CARD") == [("table", "shop.cards")]
    assert found("10.0.3") == [("client", "10.0.3.9")]
    assert found("pci") == [("class", "pci")]
    assert found("an") == [("user", "ann")]
    assert set(found("")) >= {("user", "web"), ("client", "app-1"), ("table", "shop.cards"), ("class", "pci")}
    assert found("nothing like this") == []
    midnight = f"{NOW.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=20):%F %T}"
    day = f"{NOW - timedelta(days=21):%F} 00:00:00"
    stored("audit_events", {**audit(0, user="later"), "event_time": midnight})
    old = {"cluster": "", "instance": "", "from": day, "to": midnight, "classes_from": day}
    assert store.rows("page_entity_search", text="later", **old) == [], "the end is not part of the range"
    old["to"] = midnight.replace("00:00:00", "00:00:01")
    assert [row["name"] for row in store.rows("page_entity_search", text="later", **old)] == ["later"]


def test_a_server_whose_logs_begin_when_the_range_ends_is_not_a_server_of_the_range(stored, reading):
    """Its numbers are not unknown: it had no log that could contain them, as before it was listed."""
    midnight = NOW.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=30)
    for server, hours in (("early", -1), ("late", 1)):
        stored(
            "audit_events",
            audit(0, instance=server) | {"event_time": f"{midnight + timedelta(hours=hours):%F %T}"},
        )
    its = reading("user", "app", span=TimeRange(midnight - timedelta(days=1), midnight)).logs

    assert its.servers == 1


def test_of_the_events_only_those_of_the_first_day_are_read_for_the_begin_of_logs(stored, reading):
    first, *later = (minutes_in((3 - 24 * day) * HOUR) for day in (2, 1, 0, -1))
    stored(
        "audit_events",
        login(first, user="ann"),
        *(login(at, n, user="ann") for at in later for n in range(300)),
    )
    found = reading("user", "ann").read

    assert found.begin(["audit"]) == (NOW - timedelta(minutes=first)).replace(microsecond=0)
    (row,) = (row for row in found.rows if row["source"] == "audit")
    assert row["last_second"] == int((NOW - timedelta(minutes=later[-1])).timestamp()) + 299
    store = reading("user", "ann").store
    Reading(store, Entity("user", "ann"), SPAN).read  # noqa: B018
    assert store.rows_read[-1] < 300
