"""The page Search: its time range, its links and its charts; without Superset."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import jinja2
import pytest

from tailrace.config.resources import REPOSITORY
from tailrace.search import SECURITY, Request, parse, text_of
from tailrace.search.scheduled import slots
from tailrace.search.scheduled.saved import LastRun, SavedSearch, Schedule, ScheduleError
from tailrace_pages import csv_table, formats
from tailrace_pages.page_errors import ForbiddenError
from tailrace_pages.search import asking, charts, known_logs, listing, saved_listing
from tailrace_pages.time_range import TimeRange

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)
DAY = TimeRange(NOON - timedelta(days=1), NOON, "24h")
ID = "7fd41259-f773-4653-949d-80567690f3a5"
NOTHING = dict.fromkeys(("program", "command", "verb", "level", "code", "trace"), "")
EVENT = NOTHING | {
    "duration": None,
    "rows_sent": None,
    "rows_examined": None,
    "time": NOON,
    "id": ID,
    "log": "audit",
    "kind": "failed",
    "cluster": "",
    "instance": "db/1",
    "status": 1142,
    "user": "ann/b",
    "client": "10.0.0.9",
    "database": "shop",
    "session": 7,
    "tables": ["shop.cards"],
    "query": "00000000000000AB",
    "text": "select ?",
}


def linking(*titles: str) -> listing.Linking:
    return listing.Linking(DAY, set(titles).__contains__, text_of)


def test_every_audience_of_a_viewer_is_a_role_of_the_search():
    connections = {file.stem for file in (REPOSITORY / "dashboards" / "databases").glob("*.yaml")}
    assert asking.ROLES.keys() == connections - {"tailrace_unmasked"}


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("user:a", DAY.since),
        ("user:a last:1h", NOON - timedelta(hours=1)),
        ("to:2026-11-24", NOON - timedelta(days=1.5)),
    ],
)
def test_the_range_of_the_page_applies_unless_the_search_has_a_time(text, since):
    asked = asking.request_of(asking.within(parse(text), DAY), "tailrace_security", NOON, lambda *_: [])
    assert asking.span_of(asked).since == since


def test_columns_that_are_empty_in_all_rows_leave_their_space_to_the_statement():
    without = {**EVENT, "status": None, "tables": [], "text": ""}
    titles = [column.title for column in listing.shown_columns(listing.events([without], linking()))]
    assert "Error" not in titles and "Table" not in titles and listing.COLUMNS[8].title in titles
    slow = {**EVENT, "duration": 0.00125, "rows_sent": 12_000}
    known = listing.events([without, {**EVENT, "status": 0}, slow], linking())
    assert [row["shown_duration"] for row in known] == ["", "", "1.25 ms"]
    assert [row["shown_rows"] for row in known] == ["", "", "12,000"], "unknown is not 0"
    assert listing.shown_columns(known) == listing.COLUMNS, "0 is success, which is known"


def test_a_list_states_how_many_events_there_are():
    assert listing.caption(100, 2658).startswith("100 of 2,658 events, the latest first.")
    assert listing.caption(100, None).startswith("100 of an unknown number of events, the latest first.")


@pytest.mark.parametrize(
    ("text", "searches"),
    [
        ("203.0.113.66", ["client:203.0.113.66"]),
        (
            "etl last:6h",
            ["user:etl last:6h", "client:etl last:6h", "table:etl last:6h", "instance:etl last:6h"],
        ),
        (f"p1-user-{32 * 'a'}", [f"user:p1-user-{32 * 'a'}"]),
        ('"select 1"', []),
        ("user:reporting", []),
        ("reporting | count", []),
        ("-reporting", []),
    ],
)
def test_a_name_without_its_field_leads_to_the_events_of_the_name(text, searches):
    assert [text_of(each) for each in asking.meant(parse(text))] == searches


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("db-2 replication", ["db-2", "replication"]),
        ("db-2", []),
        ("user:ann db-2", []),
        ("db-2 lost | count", []),
        ("a b c d e", []),
    ],
)
def test_a_word_of_a_search_may_be_the_name_of_a_server(text, words):
    query = parse(text)
    assert asking.words(query) == words
    if words:
        asked = asking.of_instances(query, words)
        assert text_of(asked) == "instance:db-2,replication | top instance 4"
        narrowed = map(text_of, asking.with_instance(query, "db-2"))
        assert list(narrowed) == ["instance:db-2 replication", "instance:db-2"]


def test_a_row_leads_to_the_pages_that_the_viewer_has():
    (row,) = listing.events([EVENT], linking("Users and clients", "Queries"))
    assert row["user_address"] == "/tailrace/entities/user/ann~2Fb/?range=24h"
    assert row["session_address"].startswith("/tailrace/sessions/-/db~2F1/7/?from=2026-11-24T11%3A00%3A00Z")
    assert row["table_address"] == "/tailrace/entities/table/shop.cards/?range=24h"
    assert row["address"] == "/tailrace/queries/00000000000000AB/?range=24h"
    (hidden,) = listing.events([EVENT], linking())
    assert hidden["user_address"] == "/tailrace/search/?q=user%3A%22ann%2Fb%22&range=24h"
    assert hidden["table_address"] == "/tailrace/search/?q=table%3A%22shop.cards%22&range=24h"
    assert (hidden["session_address"], hidden["address"]) == ("", "")
    (alert,) = listing.events([{**EVENT, "log": "alert", "kind": "alert"}], linking("Alert inbox"))
    assert alert["address"] == f"/tailrace/alerts/{ID.replace('-', '')}/"


def test_the_file_has_all_columns_and_leaves_unknown_values_empty():
    (row,) = listing.events([{**EVENT, "session": 0, "status": None, "user": "=1+1"}], linking())
    header, line = "".join(csv_table.lines(listing.CSV_COLUMNS, [row])).splitlines()
    known = dict(zip(header.split(","), line.split(","), strict=False))
    assert known["User"] == "'=1+1" and known["Error"] == "" and known["Connection id"] == ""


def test_a_value_of_top_leads_to_its_events():
    query = parse("status:!=0 last:1h | top user 2")
    rows = [{"value": "a b", "events": 3}, {"value": None, "events": 1}]
    found = listing.top(rows, query, linking(), every=4)
    assert [row["address"] for row in found] == ['status:!=0 user:"a b" last:1h', ""]
    assert [row["share"] for row in found] == [0.75, 0.25] and found[1]["shown_value"] == listing.UNKNOWN
    longer = parse("status:!=0 last:1h | top user 3")
    numbers = [listing.number_of_all(rows, its.pipe) for its in (longer, query)]
    assert numbers == [4, None], "with two rows of two there may be more values"
    for every, shares in ((8, [0.375, 0.125]), (None, [None, None])):
        assert [row["share"] for row in listing.top(rows, query, linking(), every)] == shares
    log = listing.counted([{"log": "slow", "events": 1}], parse("a OR b | count"), linking())
    assert log[0]["address"] == "(a OR b) log:slow"


def test_a_bar_without_events_is_zero_only_if_a_log_was_read():
    span = TimeRange(NOON - timedelta(minutes=25), NOON)
    rows = [{"time": NOON - timedelta(minutes=20), "events": 4}]
    begin = int((NOON - timedelta(minutes=10)).timestamp())
    shown = charts.bars(rows, span, 600, lambda start, end: start >= begin)
    assert [row["events"] for row in shown] == [None, 4, 0]
    assert charts.timeline(shown, 600)["series"][0]["values"] == [None, 4, 0]


def test_the_bars_of_top_are_in_proportion_and_without_the_unknown():
    drawn = charts.top(
        [{"value": "a", "events": 10}, {"value": "b", "events": 5}, {"value": None, "events": 99}]
    )
    assert [bar["name"] for bar in drawn.bars] == ["a", "b"]
    assert drawn.bars[0]["width"] == 2 * drawn.bars[1]["width"]
    assert charts.top([{"value": None, "events": 99}]) is None


@pytest.mark.parametrize(
    ("text", "clusters", "servers"),
    [
        ("server:db1,db2 user:etl | timeline 5m", [], ["db1", "db2"]),
        ('instance:"größe-db 1"', [], ["größe-db 1"]),
        ("instance:db* | timeline 5m", [], []),
        ("instance:db1 OR user:etl | timeline 5m", [], []),
        ("instance:!=db1 | timeline 5m", [], []),
        ("cluster:bank,shop instance:db1 | timeline 5m", ["bank", "shop"], ["db1"]),
        ("cluster:b* user:etl | timeline 5m", [], []),
        ("cluster:bank OR user:etl | timeline 5m", [], []),
        ("| timeline 5m", [], []),
    ],
)
def test_a_timeline_of_servers_is_unknown_while_their_logs_were_not_read(text, clusters, servers):
    """Logs of other servers and clusters do not tell that a server was quiet."""
    assert asking.servers(parse(text)) == {"clusters": clusters, "servers": servers}


@pytest.mark.parametrize("text", [text for text, _ in asking.EXAMPLES])
def test_the_examples_are_searches(text):
    Request(parse(text), SECURITY, NOON)


def test_examples_that_a_role_may_not_run_are_left_out():
    every = [text for text, _ in asking.EXAMPLES]
    assert [text for text, _ in asking.examples("tailrace_security", NOON)] == every
    of_developers = [text for text, _ in asking.examples("tailrace", NOON)]
    assert "duration:>1s | top query" in of_developers
    assert not any("log:audit" in text or "log:alert" in text for text in of_developers)


HOURLY = Schedule(timedelta(hours=1), ("siem", "chat"), 5)


def saved(**columns) -> SavedSearch:
    begun = {"saved_at": NOON - timedelta(days=1), "scheduled_at": NOON - timedelta(days=1)}
    return SavedSearch(
        "ann", "refused", "security", "kind:refused", **{"schedule": HOURLY, **begun, **columns}
    )


def last(outcome: str, events: int | None) -> dict:
    """The run whose interval ended at noon."""
    run = LastRun(NOON, NOON + timedelta(minutes=2), outcome, events, "HTTP 503")
    return {"last": run, "last_until": run.until}


def test_a_row_of_a_saved_search_shows_no_unknown_as_fine():
    found = [
        saved(schedule=None),
        saved(),
        saved(**last("failed", 7)),
        saved(**last("error", None), missed=3),
    ]
    plain, new, failed, error = saved_listing.rows(found, NOON + timedelta(minutes=30), "/{}/".format)
    assert (plain["state"], plain["last"], plain["events"], plain["next"], plain["missed"]) == ("",) * 5
    assert (new["last"], new["events"], new["state"]) == (saved_listing.NO_RUN, "", "overdue")
    assert (failed["events"], failed["channels"], failed["every"]) == ("7", "siem, chat", "1h")
    assert (failed["state"], failed["address"]) == ("failed", f"/{saved().id}/")
    assert (error["events"], error["missed"], error["state"]) == ("unknown", "3", "error")
    (later,) = saved_listing.rows([saved(**last("delivered", 7))], NOON + timedelta(hours=2), str)
    assert later["state"] == "overdue", "the last known run was fine, and nothing is known since"


def test_facts_say_what_is_known_about_a_schedule():
    known = saved_listing.facts(saved(**last("error", None)), NOON + timedelta(minutes=30))
    assert known["State"] == "error: the search itself failed" and known["Events"] == "unknown"
    assert known["Events that are sent"] == "5 or more" and known["Detail"] == "HTTP 503"
    late = saved_listing.facts(saved(), NOON + timedelta(hours=2))
    assert late["State"].startswith("overdue") and late["Next run (UTC)"].endswith("(late)")
    assert saved_listing.facts(saved(schedule=None), NOON) == {}
    assert {slots.WAITING, slots.PAUSED, slots.OVERDUE} < saved_listing.STATES.keys()


def test_an_attempt_without_a_number_has_an_unknown_one():
    row = {"until_micros": 0, "at_micros": 1_500_000, "outcome": "error", "events": 0}
    error, nothing = saved_listing.runs([row, {**row, "outcome": "nothing"}])
    assert (error["events"], nothing["events"]) == (None, 0) and error["at"].microsecond == 500_000


@pytest.mark.parametrize(
    ("form", "channels", "said"),
    [
        ({"every": ""}, ["siem"], "a span such as 30s"),
        ({"every": "1m"}, ["siem"], "from 5 minutes"),
        ({"every": "1h"}, [], "1 to 10 channels"),
        ({"every": "1h", "min_events": "-1"}, ["siem"], "is a number"),
        ({"every": "1h", "min_events": "\u0663"}, ["siem"], "is a number"),
        ({"every": "1h", "min_events": "9" * 11}, ["siem"], "is a number"),
    ],
)
def test_a_form_without_a_schedule_that_can_be_is_refused(form, channels, said):
    with pytest.raises(ScheduleError, match=said):
        saved_listing.schedule_of(form, channels, False)


def test_the_schedule_of_a_form():
    form = {"every": " 2h ", "min_events": "0"}
    expected = Schedule(timedelta(hours=2), ("siem",), 0, True)
    assert saved_listing.schedule_of(form, ["siem", "siem"], True) == expected


def normal_form(text: str) -> str:
    return text_of(parse(text))


@pytest.mark.parametrize(
    ("columns", "may_schedule", "given", "stored"),
    [
        ({}, True, "kind:failed", "kind:failed"),
        ({"schedule": None}, False, "kind:failed", "kind:failed"),
        ({}, False, "kind:refused", None),
        ({}, False, " kind:refused  ", None),
    ],
)
def test_the_text_of_a_search_changes_unless_its_schedule_forbids_it(columns, may_schedule, given, stored):
    assert saved_listing.changed_text(saved(**columns), given, may_schedule, normal_form) == stored


@pytest.mark.parametrize("schedule", [HOURLY, replace(HOURLY, paused=True)])
def test_a_text_that_a_schedule_sends_needs_the_permission_of_schedules(schedule):
    with pytest.raises(ForbiddenError, match="needs the permission schedule_searches"):
        saved_listing.changed_text(saved(schedule=schedule), "kind:failed", False, normal_form)


@pytest.mark.parametrize(
    ("columns", "may_schedule", "is_fixed"),
    [({}, False, True), ({}, True, False), ({"schedule": None}, False, False)],
)
def test_the_field_of_a_text_that_cannot_change_is_read_only(columns, may_schedule, is_fixed):
    its = saved(**columns)
    shown = own_page(
        saved=its,
        is_own=True,
        can_schedule=may_schedule,
        address="/",
        has_time=False,
        facts={},
        channels=[],
        columns=saved_listing.RUNS,
        rows=[],
    )
    (field,) = re.findall('<input id="q"[^>]*>', shown)
    assert ("readonly" in field, "needs the permission schedule_searches" in shown) == (is_fixed, is_fixed)


def own_page(**context) -> str:
    """Returns the content of the page of a saved search, without its frame."""
    frame = jinja2.DictLoader({"tailrace_pages/base.html": "{% block content %}{% endblock %}"})
    pages = jinja2.ChoiceLoader([frame, jinja2.PackageLoader("tailrace_pages")])
    environment = jinja2.Environment(loader=pages, autoescape=True, undefined=jinja2.StrictUndefined)
    environment.globals.update(formats=formats, link=lambda name, **_: name, csrf_token=lambda: "token")
    return environment.get_template("tailrace_pages/search/saved_one.html").render(context)


def known_of(instance: str, source: str, day: int, is_known: int = 1) -> dict:
    return {"instance": instance, "source": source, "first_day": date(2026, 11, day), "is_known": is_known}


LOGS_OF_SERVERS = [
    known_of("db1", "audit", 27),
    known_of("db2", "general", 28),
    known_of("db3", "slowlog", 20),
    *(known_of(name, "errorlog", 20) for name in ("db1", "db2", "db3", "db4")),
    known_of("db5", "audit", 1, is_known=0),
]
"""Logs that begin within November; db5 has none in the time ranges of the test."""


@pytest.mark.parametrize(
    ("logs", "since", "text", "begin_later"),
    [
        (
            {"audit", "general"},
            2,
            "Known in this time range: audit log or general query log of 2 of 4 servers since 2026-11-27.",
            False,
        ),
        (
            {"general", "slow", "error"},
            15,
            "Known in this time range: general query log of 1 of 4 servers since 2026-11-28; slow query log "
            "of 1 of 4 servers since 2026-11-20; error log since 2026-11-20.",
            True,
        ),
        ({"error"}, 21, "", False),
        ({"error", "alert"}, 20, "Known in this time range: error log since 2026-11-20.", True),
    ],
)
def test_a_search_states_since_when_and_of_how_many_servers_its_logs_are_known(
    logs, since, text, begin_later
):
    span = TimeRange(datetime(2026, 11, since, 9, tzinfo=UTC), datetime(2026, 11, 29, tzinfo=UTC))
    found = known_logs.of(LOGS_OF_SERVERS, logs, span)
    assert (found.text, found.begin_later) == (text, begin_later)


def test_a_search_of_servers_without_such_a_log_finds_nothing_that_is_known():
    span = TimeRange(datetime(2026, 11, 21, tzinfo=UTC), datetime(2026, 11, 29, tzinfo=UTC))
    found = known_logs.of([known_of("db1", "slowlog", 1)], {"audit"}, span)
    assert found.text == "Known in this time range: audit log of none of 1 server."
    nothing = known_logs.of([known_of("db1", "audit", 1, is_known=0)], {"alert"}, span)
    assert "what happened is unknown" in nothing.text and not nothing.begin_later


@pytest.mark.parametrize(
    ("begin_later", "advice"), [(True, "remove a condition"), (False, "longer time range")]
)
def test_a_longer_time_range_is_not_advised_if_the_logs_begin_within_this_one(begin_later, advice):
    frame = jinja2.DictLoader({"tailrace_pages/base.html": "{% block content %}{% endblock %}"})
    pages = jinja2.ChoiceLoader([frame, jinja2.PackageLoader("tailrace_pages")])
    environment = jinja2.Environment(loader=pages, autoescape=True)
    environment.globals.update(formats=formats, link=lambda name, **_: name)
    known = known_logs.KnownLogs("Known in this time range: audit log since 2026-11-27.", begin_later)
    shown = environment.get_template("tailrace_pages/search/search.html").render(
        text="user:root", known=known
    )
    assert known.text in shown and advice in shown
    assert ("longer time range" in shown) != begin_later
