"""Links of pages where rows have pseudonyms: from an alert, which has names, to records of its user."""

from datetime import timedelta
from urllib.parse import unquote

import pytest
from entity_rows import Store
from security_rows import NOW, alert_of, audit, login, slow

from tailrace import search
from tailrace.search import over_http
from tailrace_pages import links
from tailrace_pages.alerts import details
from tailrace_pages.entities import addresses, overview
from tailrace_pages.entities.kinds import Entity
from tailrace_pages.entities.reading import Reading
from tailrace_pages.search import asking
from tailrace_pages.time_range import TimeRange

USER, OTHER, CLIENT = f"p1-user-{32 * 'a'}", f"p1-user-{32 * 'b'}", f"p1-client-{32 * 'c'}"
SPAN = TimeRange(NOW - timedelta(days=2), NOW)
MINUTES = 24 * 60


@pytest.fixture
def alert(stored) -> dict:
    """An alert about two records of etl from 10.0.0.9, which rows contain as pseudonyms."""
    its = {"user": USER, "host": CLIENT, "ip": CLIENT}
    first, last = login(MINUTES, **its), audit(MINUTES, 5, verb="SELECT", query_id=5, **its)
    entry = slow(MINUTES, 7, query_id=5, weight=1, user=OTHER, host="", ip=CLIENT)
    stored("audit_events", first, last)
    stored("query_events", entry)
    row = alert_of(first, last, user="etl", src_ip="10.0.0.9", entity={"user": "etl"})
    stored("alerts", row)
    return row


@pytest.fixture
def store(user) -> Store:
    return Store(user("reader_security"))


def shown(store: Store, row: dict) -> dict:
    return store.rows("page_alert", id=row["alert_id"])[0]


def reading(store: Store, kind: str, name: str, span: TimeRange = SPAN) -> Reading:
    return Reading(store, Entity(kind, name), span)


def numbers(of: Reading) -> dict[str, tuple[str, str]]:
    given = (of.entity.measures, of.timeline, of.alerts_about, of.logs, of.span, of.read)
    return {each["title"]: (each["value"], each["note"]) for each in overview.numbers(*given)}


def test_an_alert_leads_to_the_records_of_its_user_and_client(alert, store):
    found = details.pseudonyms(store, shown(store, alert))
    assert [(title, name) for title, name, _ in found] == [
        ("User in its events", USER),
        ("Client in its events", CLIENT),
    ]
    _, _, address = found[0]
    kind, name = unquote(address.partition("?")[0]).removeprefix("/tailrace/entities/").strip("/").split("/")
    of_user = reading(store, kind, addresses.decode(name))
    values = {title: value for title, (value, _) in numbers(of_user).items()}
    assert values == {"Logins": "1", "Refused logins": "0", "Statements": "1", "Errors": "0", "Alerts": "1"}
    (back,) = of_user.alerts_about
    assert back["alert"] == alert["alert_id"].replace("-", "")
    facts = details.facts(shown(store, alert), True, found)
    assert ("User", "etl", links.user("etl", details.around(shown(store, alert)))) in facts
    assert set(found) <= set(facts)


def test_a_name_that_only_begins_like_a_pseudonym_is_none(alert, stored, store):
    """Anybody can choose such a name for a login."""
    forged = login(MINUTES, user="p1-user-ab", host=CLIENT, ip=CLIENT)
    stored("audit_events", forged)
    row = alert_of(forged, user="etl", src_ip="10.0.0.9")
    stored("alerts", row)
    assert [name for _, name, _ in details.pseudonyms(store, shown(store, row))] == [CLIENT]


def test_the_page_of_a_name_leads_to_the_pseudonym_in_the_events_of_its_alerts(alert, store):
    assert [row["pseudonym"] for row in reading(store, "user", "etl").pseudonyms()] == [USER]
    assert [row["pseudonym"] for row in reading(store, "client", "10.0.0.9").pseudonyms()] == [CLIENT]
    assert reading(store, "user", USER).pseudonyms() == []
    assert reading(store, "user", "bob").pseudonyms() == []


def test_an_alert_without_pseudonyms_in_its_events_reads_no_event(stored, store):
    record = audit(MINUTES, user="etl")
    row = alert_of(record, user="etl")
    stored("audit_events", record, *(audit(MINUTES, number, user="etl") for number in range(100)))
    stored("alerts", row)
    found = shown(store, row)
    assert details.pseudonyms(store, found) == []
    entities = store.rows("SELECT count() AS n FROM tailrace.entities_1d")[0]["n"]
    details.pseudonyms(store, found)
    assert store.rows_read[-1] <= 2 * entities + 1, "only the days of entities and the list of ids"


def test_alerts_of_a_pseudonym_are_unknown_in_long_ranges_and_not_none(alert, store):
    """They are found by the events that they name, in ranges of some days only."""
    of_user = reading(store, "user", USER, TimeRange(NOW - timedelta(days=30), NOW))
    assert numbers(of_user)["Alerts"] == ("unknown", "searched in shorter time ranges only")
    bars = overview.bars(
        of_user.entity.measures, of_user.timeline, [], of_user.logs, of_user.span, of_user.read
    )
    assert {bar["alerts"] for bar in bars} == {None}


@pytest.mark.parametrize("name", [USER, CLIENT])
def test_a_search_for_a_pseudonym_finds_its_records(alert, user, name):
    (meant,) = asking.meant(search.parse(name))
    assert search.text_of(meant) == f"{name.split('-')[1]}:{name}"
    asked = search.Request(asking.within(meant, SPAN), search.SECURITY, NOW)
    found = search.listing(over_http.rows_of(user("reader_security")), asked, 10)
    assert {row["user"] for row in found.events} == ({USER} if name == USER else {USER, OTHER})
