"""Tests incidents of stored alerts: the query, times of ranges, and actions on the alerts of an incident."""

from datetime import UTC, datetime, timedelta

import pytest
from entity_rows import Store
from security_rows import audit, denied_message, login, refused, slow

from e2e.alert_rows import alert, written
from tailrace.alerts import triage
from tailrace.alerts.incidents import Incidents
from tailrace.alerts.triage import Action
from tailrace.cli.commands import alerts_incidents
from tailrace_pages.alerts import details, tried_accounts
from tailrace_pages.alerts import incidents as pages
from tailrace_pages.time_range import TimeRange

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def raised(admin):
    """Inserts an alert at some minutes after NOON; returns its id."""

    def insert(minutes: float, account: str = "", client: str = "", **fields) -> str:
        at = written(NOON + timedelta(minutes=minutes))
        entity = {name: value for name, value in (("user", account), ("src_ip", client)) if value}
        given = {"entity": entity, "user": account, "src_ip": client, "event_time": at, "window_from": at}
        row = alert(**{**given, **fields})
        admin.insert("tailrace.alerts", [row])
        return row["alert_id"].replace("-", "")

    return insert


@pytest.fixture
def incidents(user):
    def read(audience: str = "analyst") -> Incidents:
        return Incidents(lambda query, **given: user(audience).rows(query, given))

    return read


def within(found: Incidents, hours: float = 24) -> list[set[str]]:
    listed, is_cut = found.within(NOON - timedelta(hours=1), NOON + timedelta(hours=hours))
    assert not is_cut
    return [set(each.ids) for each in listed]


def test_alerts_of_a_user_and_a_client_that_one_alert_links_are_an_incident(raised, incidents):
    guessed = raised(0, client="10.0.0.9", level="medium")
    login = raised(20, "ann", "10.0.0.9", level="low")
    dumped = raised(50, "ANN", level="critical", tags=["attack.exfiltration"])
    other = raised(50, "ben")
    raised(55, "ann", silenced=True)
    assert within(incidents()) == [{guessed, login, dumped}, {other}]
    for audience in ("reader_security", "reader_compliance"):
        assert within(incidents(audience)) == within(incidents())
    found = incidents().of(dumped)
    assert (found.id, found.level, found.values("account")) == (guessed, "critical", ["ANN", "ann"])


def test_an_incident_names_the_users_of_its_events(raised, stored, incidents, user):
    """A password spray is about a client: its alert names no user, its events name each account."""
    at = [f"{NOON + timedelta(seconds=second):%Y-%m-%d %H:%M:%S}" for second in range(14)]
    tried = [refused(0, user=f"u{second:02}", event_time=at[second]) for second in range(14)]
    denied = {**denied_message(0, user="zoe"), "event_time": at[13]}
    stored("audit_events", *tried[:13], refused(0, user="unrelated", event_time=at[3]))
    stored("error_events", denied)
    ids = [row["event_id"] for row in (*tried[:13], denied)]
    of_client = {"client": "10.0.0.9", "event_ids": ids}
    spray, once = (
        raised(0.5, count=14, **of_client),
        raised(30, "ann", "10.0.0.9", event_ids=ids[:1], count=1),
    )
    found = incidents().of(once)

    def facts() -> dict[str, list]:
        of_events = pages.users_of_events(Store(user("reader_security")), found)
        return dict(pages.facts(found, True, of_events))

    shown = facts()["Users in the events that its alerts store: 14"]
    assert [name for name, _ in shown] == [*(f"u{second:02}" for second in range(13)), "zoe"]
    assert shown[0][1].startswith("/tailrace/entities/user/u00/?from=")
    assert [name for name, _ in facts()["Users"]] == ["ann"]
    raised(31, "ann", event_ids=ids[:1], count=400)
    found = incidents().of(spray)
    assert "Users in the events that its alerts store: at least 14" in facts()


def test_an_incident_names_all_accounts_that_its_client_tried(raised, stored, incidents, user):
    """The alert of a spray stores seven events, and the client went on: 60 accounts, one of them entered."""

    def at(second: int) -> dict[str, str]:
        return {"event_time": f"{NOON + timedelta(seconds=second):%Y-%m-%d %H:%M:%S}", "ip": "10.0.0.9"}

    tried = [refused(0, user=f"u{number:02}", **at(3 * number)) for number in range(60)]
    stored("audit_events", *tried, refused(0, user="u07", **at(400)))
    stored("audit_events", login(0, user="u07", **at(420)), login(0, user="u08", **at(1)))
    stored("audit_events", login(0, user="u09", **{**at(500), "ip": "10.0.0.8"}))
    stored("audit_events", refused(0, user="typo", **{**at(90), "ip": "10.0.0.8"}))
    spray = raised(0.5, client="10.0.0.9", event_ids=[row["event_id"] for row in tried[:7]])
    found, store = incidents().of(spray), Store(user("reader_security"))
    span = pages.around(found)
    (shown,) = tried_accounts.of_clients(store, ["10.0.0.9"], span, has_entities=True)
    sentence = "10.0.0.9 tried 60 accounts without success, with 61 refused logins from 2026-03-10 12:00:00"
    assert (
        shown["sentence"] == f"{sentence} to 2026-03-10 12:06:40 UTC. Afterwards it logged in to 1 of them."
    )
    assert [name for name, _ in shown["accounts"]] == [f"u{number:02}" for number in range(50)]
    assert shown["further"] == 10 and shown["address"].startswith("/tailrace/entities/client/10.0.0.9/")
    assert [text for text, _ in shown["entered"]] == ["u07 (2026-03-10 12:07:00 on db1)"]
    of_events = pages.users_of_events(store, found)
    facts = dict(pages.facts(found, True, of_events, tried_accounts.names([shown])))
    assert [values for name, values in facts.items() if "events that its alerts store" in name] == [[]]


def test_an_incident_says_what_the_sessions_did_that_its_client_entered(stored, user):
    """u1 is audited and partly in the slow query log, u2 only audited, u3 did nothing that a log contains."""
    begin = datetime.now(UTC).replace(microsecond=0) - timedelta(
        hours=5
    )  # slow query logs are kept for weeks

    def at(second: int, name: str, **columns) -> dict:
        time = f"{begin + timedelta(seconds=second):%Y-%m-%d %H:%M:%S}"
        return {"event_time": time, "user": name, "ip": "10.0.0.9", **columns}

    sessions = {f"u{number}": 2**40 + number for number in (1, 2, 3)}
    for number, (name, connection) in enumerate(sessions.items()):
        of_session = {"connection_id": connection}
        stored("audit_events", refused(0, **at(number, name)), login(0, **at(60, name, **of_session)))
        if number < 2:
            statements = [audit(0, **at(70 + second, name, **of_session)) for second in range(3)]
            general = audit(0, **at(70, name, **of_session, source="general"))
            stored("audit_events", *statements, general)
    stored("audit_events", audit(0, **at(80, "u1", connection_id=5)))
    stored(
        "query_events", *(slow(0, **at(70, "u1", connection_id=2**40 + 1, rows_sent=214)) for _ in range(2))
    )
    span = TimeRange(begin, begin + timedelta(hours=1))
    (shown,) = tried_accounts.of_clients(
        Store(user("reader_security")), ["10.0.0.9"], span, has_entities=True
    )
    assert [(each["title"], each["did"]) for each in shown["sessions"]] == [
        (f"Session {2**40 + 1} on db1", "3 statements, at least 428 rows sent, known for 2 of them"),
        (
            f"Session {2**40 + 2} on db1",
            "3 statements, rows sent unknown: no slow query log contains them",
        ),
        (f"Session {2**40 + 3} on db1", "no statement in the logs of this time"),
    ]
    assert shown["sessions"][0]["address"].startswith(f"/tailrace/sessions/shop/db1/{2**40 + 1}/?from=")


def test_an_alert_that_counts_users_says_how_many_accounts_its_client_tried(raised, stored, user):
    """Its rule stores the events up to the threshold, and the client went on."""
    tried = [
        refused(0, user=f"u{number}", event_time=written(NOON + timedelta(seconds=number)), ip="10.0.0.9")
        for number in range(8)
    ]
    stored("audit_events", *tried)
    spray = {"client": "10.0.0.9", "user": "u4", "metric": 5, "facts": {"counted": "user"}}
    store, id_ = Store(user("reader_security")), raised(0.1, **spray)
    found = details.read(store, id_)
    (said,) = details.tried(store, found)
    assert said.startswith("10.0.0.9 tried 8 accounts without success, with 8 refused logins from")
    assert "client 10.0.0.9 on shop-db-1, 5 users when the rule matched" in details.sentence(found)
    assert details.tried(store, details.read(store, raised(0.2, client="10.0.0.9"))) == []


def test_a_login_after_refused_ones_is_unknown_without_a_log_of_logins(raised, stored, incidents, user):
    """An error log has refused logins only."""
    denied = denied_message(0, user="zoe", host="10.0.0.9")
    stored("error_events", {**denied, "event_time": f"{NOON:%Y-%m-%d %H:%M:%S}"})
    found, store = incidents().of(raised(0.5, client="10.0.0.9")), Store(user("reader_compliance"))
    span = pages.around(found)
    (shown,) = tried_accounts.of_clients(store, ["10.0.0.9"], span, has_entities=False)
    assert shown["accounts"] == [("zoe", "")] and shown["entered"] == []
    assert shown["not_entered"] == "unknown: no log of db1 contains a successful login of this time"
    accepted = login(0, user="ann", ip="10.0.0.8", event_time=f"{NOON:%Y-%m-%d %H:%M:%S}")
    stored("audit_events", accepted)
    (shown,) = tried_accounts.of_clients(store, ["10.0.0.9"], span, has_entities=False)
    assert shown["not_entered"] == "none of them in the logs of this time"


def test_an_alert_with_as_many_events_as_it_can_name_may_be_about_more(raised, stored, incidents, user):
    """A match of a correlation counts once, whatever the number of its events."""
    tried = [refused(0, user="ann", event_time=f"{NOON:%Y-%m-%d %H:%M:%S}") for _ in range(100)]
    stored("audit_events", *tried)
    id_ = raised(0.5, client="10.0.0.9", count=1, event_ids=[row["event_id"] for row in tried])
    of_events = pages.users_of_events(Store(user("reader_security")), incidents().of(id_))
    assert of_events == (["ann"], True)


def test_an_incident_has_the_history_of_its_alerts(raised, incidents, user):
    """What one person did with all of them at once is one row."""
    first, second = raised(0, "ann"), raised(30, "ann")
    other = raised(0, "ben")
    store = Store(user("reader_security"))
    assert pages.history(store, incidents().of(first)) == []
    assert incidents().of(first).values("assignee") == []
    for action in (Action("assign", "eve", "hers", assignee="eve"), Action("ack", "eve", "seen")):
        triage.record_action(user("analyst"), [first, second], action)
    triage.record_action(user("analyst"), [second, other], Action("comment", "sam", "a test"))
    triage.record_action(user("analyst"), [first], Action("close", "sam", "done", verdict="benign"))
    found = incidents().of(second)
    rows = pages.history(store, found)
    assert sorted((row["actor"], row["what"], row["detail"], row["of"], row["address"]) for row in rows) == [
        ("eve", "acknowledged", "seen", "all 2", ""),
        ("eve", "assigned to eve", "hers", "all 2", ""),
        ("sam", "closed as benign", "done", first[:8], f"/tailrace/alerts/{first}/"),
        ("sam", "commented", "a test", second[:8], f"/tailrace/alerts/{second}/"),
    ]
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
    assert {row["total"] for row in rows} == {4}
    assert pages.assigned(found) == "eve"


def test_an_incident_is_complete_at_the_ends_of_a_range(raised, incidents):
    ids = {raised(minutes, "ann") for minutes in (-90, -40, 10, 60)}
    assert within(incidents(), hours=0.5) == [ids]
    assert incidents().of("0" * 32) is None


def test_an_action_concerns_the_alerts_whose_state_allows_it(raised, incidents, user):
    closed, opened, acknowledged = (raised(minutes, "ann") for minutes in (0, 1, 2))
    analyst = user("analyst")
    triage.record_action(analyst, [closed], Action("close", "erin", "x", verdict="benign"))
    triage.record_action(analyst, [acknowledged], Action("ack", "erin", "x"))
    assert incidents().of(opened).state == "open"
    assert set(alerts_incidents.alerts_of(analyst, [opened[:10]], "close")) == {opened, acknowledged}
    assert alerts_incidents.alerts_of(analyst, [opened], "reopen") == [closed]
    ids = alerts_incidents.alerts_of(analyst, [opened], "close")
    triage.record_action(analyst, ids, Action("close", "erin", "all of it", verdict="true positive"))
    found = incidents().of(opened)
    assert found.state == "closed" and found.values("verdict") == ["benign", "true positive"]
    with pytest.raises(triage.AlertError, match="none of the 3 alerts allows close"):
        alerts_incidents.alerts_of(analyst, [opened], "close")
