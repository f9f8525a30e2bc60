"""Tests the queries of the alert inbox: order, filters, states as in alerts.sql, history."""

import re
import uuid
from datetime import UTC, datetime, timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from security_rows import alert_of, audit, slow

from e2e.alert_rows import RULE, alert, grown, written
from tailrace.alerts import triage
from tailrace.alerts.triage import Action
from tailrace.reading.time_range import TimeRange
from tailrace_pages.alerts import details, filters, listing
from tailrace_pages.alerts.listing import Overview
from tailrace_pages.queries import text_of

RANGE = {
    "from": f"{datetime.now(UTC) - timedelta(days=10):%Y-%m-%d %H:%M:%S}",
    "to": f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%d %H:%M:%S}",
}
FACTS = {
    **dict.fromkeys(("entity_key", "user", "src_ip", "program", "instance", "cluster", "database"), ""),
    **dict.fromkeys(("window_from", "event_time", "detected_at", "updated_at"), datetime.now(UTC)),
    "late": False,
    "metric": 1,
    "facts": {},
    "tags": [],
    "rule_file": "",
}
"""An alert about which nothing is known."""
HOURS = 60
"""Minutes: alerts are hours old, and their differences are hours."""


@pytest.fixture
def raised(admin):
    """Inserts alerts, each given by the hours since its event and fields; returns their ids."""

    def insert(*given: dict) -> list[str]:
        rows = [alert(**{"minutes_ago": 5 * HOURS, **fields}) for fields in given]
        admin.insert("tailrace.alerts", rows)
        return [triage.uuid_of(row["alert_id"].replace("-", "")) for row in rows]

    return insert


@pytest.fixture
def act(user):
    def record(id_: str, action: str, actor: str = "erin", reason: str = "test", **fields) -> None:
        triage.record_action(user("analyst"), [id_], Action(action, actor, reason, **fields))

    return record


@pytest.fixture
def ask(user):
    """Runs a query as an audience; `listed` returns the ids that the list shows for filters of an address."""

    def rows(name: str, audience: str = "security", **parameters) -> list[dict]:
        given = {key: str(value) if isinstance(value, list) else value for key, value in parameters.items()}
        return user(f"reader_{audience}").rows(text_of(name), given)

    return rows


@pytest.fixture
def listed(ask):
    def ids(span: dict | None = None, **address: str) -> list[str]:
        chosen = filters.parse(address)
        given = {**chosen.with_level("").parameters("erin"), **(span or RANGE)}
        found = {row["level"]: row for row in ask("page_alert_overview", upto=50, **given)}
        overview = Overview({}, 0, {level: row["latest"] for level, row in found.items()})
        shown = overview.ids(chosen.levels, 1, 50)
        in_file = ask("page_alerts", limit=50, **{**given, "level": chosen["level"]})
        assert [triage.uuid_of(row["id"]) for row in in_file] == shown, "page and file list the same"
        return shown

    return ids


def test_the_most_severe_come_first_then_the_latest(raised, listed):
    low, high, old, critical = raised(
        {"level": "low", "minutes_ago": 1 * HOURS},
        {"level": "high", "minutes_ago": 3 * HOURS},
        {"level": "high", "minutes_ago": 5 * HOURS},
        {"level": "critical", "minutes_ago": 9 * HOURS},
    )
    assert listed() == [critical, high, old, low]
    assert listed(level="high") == [high, old]


@pytest.mark.parametrize(
    "chosen", [{}, {"cluster": ["shop"]}, {"cluster": ["shop"], "instance": ["db-1", "o'db&2"]}]
)
@pytest.mark.parametrize("name", ["linked_critical", "linked_high", "linked_lower"])
def test_a_number_of_the_overview_is_that_of_the_list_to_which_it_leads(
    raised, act, listed, user, rendered, metric, name, chosen
):
    levels = ("critical", "high", "medium", "low", "informational")
    rows = [
        {"level": level, "cluster": cluster, "instance": instance, "minutes_ago": hours * HOURS}
        for level in levels
        for cluster, instance in (("shop", "db-1"), ("shop", "o'db&2"), ("shop", "db-3"), ("hr", "db-4"))
        for hours in (2, 30)
    ]
    (closed, *_) = raised({"level": "low"}, *rows, {"level": "low", "silenced": True})
    act(closed, "close", verdict="benign")
    now = datetime.now(UTC)
    span = [f"{at:%Y-%m-%dT%H:%M:%S}" for at in (now - timedelta(days=1), now)]
    wanted = metric("alerts", name, time_range=span, **chosen)
    shown = " AND ".join(f"has(splitByChar(' ', {{{column}:String}}), {column})" for column in chosen)
    (row,) = user("reader_security").rows(
        f"SELECT {wanted} AS number FROM ({rendered('alerts_shown', *span)}) WHERE {shown or 'true'} "
        "AND event_time >= parseDateTimeBestEffort({since:String}, 'UTC') "
        "AND event_time < parseDateTimeBestEffort({until:String}, 'UTC')",
        {"since": span[0], "until": span[1], **{name: " ".join(chosen[name]) for name in chosen}},
    )
    address, number = re.fullmatch(r'<a href="([^"]+)">(\d+)</a>', row["number"]).groups()
    given = {key: value for key, (value,) in parse_qs(urlsplit(unescape(address)).query).items()}
    assert [given.pop(name) for name in ("from", "to")] == [f"{at}Z" for at in span]
    assert int(number) == len(listed({"from": span[0], "to": span[1]}, **given)) > 0


def test_filters_choose_alerts(raised, listed):
    mine, other = raised(
        {"entity": {"user": "O'Brien", "host": "a"}, "user": "O'Brien", "rule_title": "Schema enumeration"},
        {"instance": "shop-db-2", "cluster": "other", "entity": {"src_ip": "10.0.0.9"}, "rule_id": "r2"},
    )
    assert listed(rule="SCHEMA enum") == [mine]
    assert listed(rule="r2") == [other]
    assert listed(field="user", value="o'brien") == [mine]
    assert listed(field="host", value="A") == [mine]
    assert listed(field="src_ip", value="10.0.0.9") == [other]
    assert set(listed(field="program", value="MYSQLDUMP")) == {mine, other}
    assert listed(instance="shop-db-2") == listed(cluster="other") == [other]
    assert listed(field="user", value="' OR 1=1 --") == []


def test_states_are_those_of_the_command_line(raised, act, listed, user):
    ids = raised(*({"minutes_ago": hours * HOURS} for hours in (1, 2, 3, 4, 5)), {"silenced": True})
    opened, acknowledged, closed, reopened, commented, silenced = ids
    act(acknowledged, "ack")
    act(closed, "close", verdict="benign")
    act(reopened, "close", verdict="false positive")
    act(reopened, "reopen")
    act(commented, "comment")
    assert listed() == [opened, acknowledged, reopened, commented]
    assert listed(state="open") == [opened, reopened, commented]
    assert listed(state="acknowledged") == [acknowledged]
    assert listed(state="closed") == listed(state="closed", verdict="benign") == [closed]
    assert listed(state="suppressed") == [silenced]
    assert set(listed(state="any")) == set(ids)
    rows = user("analyst").rows(f"SELECT id, state, verdict FROM ({text_of(triage.QUERY)})")
    by_command = {row["id"]: (row["state"], row["verdict"]) for row in rows}
    for id_ in ids:
        (page,) = user("reader_compliance").rows(text_of("page_alert"), {"id": id_})
        assert (page["state"], page["verdict"]) == by_command[page["id"]]


def test_a_closed_alert_without_a_verdict_can_get_one(raised, act, listed, user):
    """It was closed by a tool, by the API or by the command line, where the verdict is optional."""
    (id_,) = raised({})
    act(id_, "close")
    digits = id_.replace("-", "")
    assert triage.possible(user("analyst"), [digits], "close") == []
    with pytest.raises(triage.StateError, match="is closed already"):
        act(id_, "close")
    assert triage.possible(user("analyst"), [digits], "close", "benign") == [digits]
    act(id_, "close", verdict="benign")
    assert listed(state="closed", verdict="benign") == [id_]
    with pytest.raises(triage.StateError, match="is closed already"):
        act(id_, "close", verdict="false positive")


def test_assignees(raised, act, listed):
    mine, hers, nobodys = raised(*({"minutes_ago": hours * HOURS} for hours in (1, 2, 3)))
    act(mine, "assign", assignee="ann")
    act(mine, "assign", assignee="erin")
    act(hers, "assign", assignee="ann")
    assert listed(assignee="me") == [mine]
    assert listed(assignee="ann") == [hers]
    assert listed(assignee="nobody") == [nobodys]


def test_alerts_before_the_range_are_counted(raised, act, ask, listed):
    recent, _, closed = raised({}, {"minutes_ago": 3 * 24 * HOURS}, {"minutes_ago": 4 * 24 * HOURS})
    act(closed, "close")
    span = {**RANGE, "from": f"{datetime.now(UTC) - timedelta(days=1):%Y-%m-%d %H:%M:%S}"}
    (row,) = ask("page_alert_overview", upto=50, **filters.parse({}).parameters("erin"), **span)
    assert (row["level"], int(row["alerts"]), int(row["older"])) == ("high", 1, 1)
    assert listed(span) == [recent]


def test_a_grown_alert_is_one_row_with_its_newest_count(raised, ask):
    first = alert(minutes_ago=5 * HOURS)
    raised(first, grown(first, 7))
    (row,) = ask("page_alert_rows", ids=[first["alert_id"]])
    assert int(row["alert_count"]) == 7
    assert int(ask("page_alert", id=first["alert_id"])[0]["alert_count"]) == 7


def test_page_and_file_have_a_value_for_every_column(raised, ask):
    class Asked:
        rows = staticmethod(ask)

    ids = raised({})
    span = TimeRange(*(datetime.now(UTC) + timedelta(days=days) for days in (-1, 1)))
    read = {
        "page_alert_rows.sql": (listing.COLUMNS, listing.rows_of(Asked(), ids)),
        "page_alerts.sql": (listing.CSV_COLUMNS, listing.all_of(Asked(), filters.parse({}), span, "erin")),
    }
    for query, (columns, (row,)) in read.items():
        missing = [column.key for column in columns if column.key not in row]
        assert missing == [], f"columns of alerts/listing.py that {query} does not select"


def test_history_has_actions_and_deliveries_in_order(raised, act, user, ask):
    (id_,) = raised({})
    act(id_, "assign", assignee="ann", reason="her server")
    row = {
        "alert_id": id_,
        "channel": "siem",
        "count": 1,
        "attempt": 1,
        "outcome": "delivered",
        "detail": "200",
    }
    user("delivery").insert(f"tailrace.alert_deliveries ({', '.join(row)})", [row])
    act(id_, "close", verdict="benign", reason="planned")
    found = [(row["actor"], row["what"], row["detail"]) for row in ask("page_alert_history", id=id_)]
    assert found == [
        ("erin", "assigned to ann", "her server"),
        ("channel siem", "delivered, attempt 1", "200"),
        ("erin", "closed as benign", "planned"),
    ]


def test_earlier_alerts_are_of_the_same_rule_and_entity(raised, act, ask):
    this, before, _, _ = raised(
        {"minutes_ago": 1 * HOURS},
        {"minutes_ago": 5 * HOURS},
        {"minutes_ago": 5 * HOURS, "entity": {"user": "ann"}},
        {"minutes_ago": 5 * HOURS, "rule_id": "other"},
    )
    act(before, "close", verdict="false positive", reason="a backup")
    given = {"rule_id": RULE, "entity_key": "user=mallory", "cluster": "shop", "limit": 10, "to": RANGE["to"]}
    (row,) = ask("page_alert_earlier", id=this, **given)
    assert triage.uuid_of(row["id"]) == before
    assert (row["verdict"], row["closed_because"], int(row["total"])) == ("false positive", "a backup", 1)


def test_the_sessions_of_an_alert_are_those_of_its_events(admin, ask):
    events = [str(uuid.uuid4()) for _ in range(3)]
    at = datetime.now(UTC) - timedelta(hours=5)
    row = {"cluster": "shop", "instance": "db1", "event_class": "QUERY", "command": "SELECT", "user": "ann"}
    rows = [
        {**row, "event_id": id_, "event_time": written(at), "connection_id": number}
        for id_, number in zip(events, (2**64 - 1, 2**64 - 1, 9), strict=True)
    ]
    admin.insert("tailrace.audit_events", rows)
    found = ask("page_alert_sessions", instance="db1", event_ids=events[:2], **RANGE)
    assert [(int(row["connection_id"]), int(row["events"])) for row in found] == [(2**64 - 1, 2)]
    assert [
        int(row["total"]) for row in ask("page_alert_sessions", instance="db1", event_ids=events, **RANGE)
    ] == [2, 2]


def test_an_alert_of_a_slow_query_log_leads_to_its_session_and_query(stored, ask):
    entries = [
        slow(5 * 60, query_id=5, rows_sent=184_302),
        slow(5 * 60, query_id=5),
        audit(5 * 60, query_id=5),
    ]
    other = audit(5 * 60, query_id=6, connection_id=8)
    stored("query_events", *entries[:2])
    stored("audit_events", entries[2], other)

    class Asked:
        rows = staticmethod(ask)

    def read(*events: dict) -> list[dict]:
        row = {**alert_of(*events), **dict.fromkeys(("window_from", "event_time"), datetime.now(UTC))}
        span = {"window_from": datetime.now(UTC) - timedelta(hours=6)}
        return details.queries(Asked, {**row, **span})

    of_slow, of_both, of_audit = read(entries[0]), read(*entries, other), read(other)
    assert [(row["query"], row["rows_sent"]) for row in of_slow] == [("0000000000000005", "184,302")]
    assert of_slow[0]["address"].startswith("/tailrace/queries/0000000000000005/?from=")
    unknown = "unknown: the log of these events does not contain it"
    assert [row["rows_sent"] for row in of_both] == ["at least 184,312, known for 2 of 3 events", unknown]
    fact = next(value for name, value, _ in details.facts(FACTS, False, (), of_both) if name == "Rows sent")
    assert fact == "at least 184,312, known for 2 of 4 events"
    assert [row["rows_sent"] for row in of_audit] == [unknown]
    found = ask("page_alert_sessions", instance="db1", event_ids=[entries[0]["event_id"]], **RANGE)
    assert [(int(row["connection_id"]), int(row["events"])) for row in found] == [(7, 1)]


@pytest.mark.parametrize(
    ("entries", "shown"),
    [
        ([slow(300, 1, query_id=5, rows_sent=12_000)], "12,000, from the slow query log"),
        ([slow(300, 1, query_id=5, rows_sent=12_000, connection_id=0)], "12,000, from the slow query log"),
        ([slow(300, 9, query_id=5, rows_sent=12_000, query_time=9)], "12,000, from the slow query log"),
        ([slow(300, 9, query_id=5, rows_sent=12_000)], ""),
        ([slow(300, 1, query_id=5, rows_sent=12_000, connection_id=8)], ""),
        ([slow(300, 1, query_id=5, rows_sent=12_000, user="ann")], ""),
        ([slow(300, 1, query_id=6, rows_sent=12_000)], ""),
        ([slow(300, 1, query_id=5, rows_sent=12_000, instance="db2")], ""),
        ([slow(300, 1, query_id=5), slow(300, -1, query_id=5)], ""),
        ([slow(300, 1, query_id=5), audit(300, 2, query_id=5)], ""),
    ],
)
def test_rows_sent_of_an_audited_statement_are_those_of_its_one_entry_in_the_slow_log(
    stored, ask, entries, shown
):
    """Another session, user, query or server, or two candidates, do not allow the link."""
    named = audit(300, query_id=5)
    stored("audit_events", named, *(each for each in entries if each["source"] == "audit"))
    stored("query_events", *(each for each in entries if each["source"] == "slowlog"))

    class Asked:
        rows = staticmethod(ask)

    def read(*events: dict) -> list[str]:
        whole = {"event_time": datetime.now(UTC), "window_from": datetime.now(UTC) - timedelta(hours=6)}
        return [row["rows_sent"] for row in details.queries(Asked, {**alert_of(*events), **whole})]

    assert read(named) == [shown or "unknown: the log of these events does not contain it"]
    if shown:
        assert read(named, *entries) == [shown], "the rows of both are counted once"


def test_only_alerts_that_are_not_suppressed_are_new(raised, ask):
    since = int((datetime.now(UTC) - timedelta(days=2)).timestamp() * 1e6)
    raised({}, {"silenced": True}, {"minutes_ago": 4 * 24 * HOURS})
    assert [int(row["alerts"]) for row in ask("page_alerts_newest", since=since)] == [1]


def test_verdicts_are_checked_by_the_table(raised, act):
    (id_,) = raised({})
    for action, verdict in (("close", "odd"), ("ack", "benign")):
        with pytest.raises(Exception, match="verdict"):
            act(id_, action, verdict=verdict)
