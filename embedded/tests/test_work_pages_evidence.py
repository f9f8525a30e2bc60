"""The pure code of the page Evidence: periods, gaps, columns of rows, and a missing service."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from tailrace.evidence import framework
from tailrace.evidence.period import Period
from tailrace_pages.evidence import actions, bundles, gaps, periods, reviewing, rows
from tailrace_pages.page_errors import BadAddressError
from tailrace_pages.time_range import TimeRange

NOW = datetime(2026, 11, 24, 8, 30, 12, tzinfo=UTC)
DAY = timedelta(days=1)
DASHBOARDS = Path(__file__).parents[2] / "dashboards" / "dashboards"


def test_a_period_has_whole_minutes():
    span = periods.in_minutes(TimeRange(NOW - DAY, NOW, "24h"))
    assert (span.since.second, span.until.second, span.name) == (0, 0, "24h")
    assert periods.texts(span) == {"from": "2026-11-23T08:30Z", "to": "2026-11-24T08:30Z"}
    assert Period.parse(*periods.texts(span).values(), NOW) == periods.period_of(span)


@pytest.mark.parametrize("length", [timedelta(seconds=12), timedelta(days=401)])
def test_periods_that_are_too_short_or_too_long(length):
    with pytest.raises(BadAddressError, match="period"):
        periods.in_minutes(TimeRange(NOW - length, NOW))


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (
            NOW,
            {
                "November 2026 until now": ("2026-11-01", "2026-11-24"),
                "October 2026": ("2026-10-01", "2026-11-01"),
                "July to September 2026": ("2026-07-01", "2026-10-01"),
            },
        ),
        (
            datetime(2026, 1, 1, tzinfo=UTC),
            {
                "December 2025": ("2025-12-01", "2026-01-01"),
                "October to December 2025": ("2025-10-01", "2026-01-01"),
            },
        ),
    ],
)
def test_calendar_periods(now, expected):
    found = {title: (f"{span.since:%F}", f"{span.until:%F}") for title, span in periods.calendar(now).items()}
    assert found == expected


def server(instance: str, state: str = "audited") -> dict:
    return {"instance": instance, "state": state, "audit_last_seen": None}


def minutes(instance: str, **more: int) -> dict:
    counted = {"missing": 0, "unknown": 0, "behind": 0, "minutes": 60, **more}
    return {"instance": instance, **counted, "watched": 60 - counted["unknown"]}


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        (NOW - 7 * DAY, NOW, ("2026-11-18", "2026-11-24")),
        (NOW - DAY, NOW, ("2026-11-23", "2026-11-24")),
        (NOW - timedelta(hours=6), NOW, ("2026-11-23", "2026-11-24")),
        (
            datetime(2026, 11, 20, 10, tzinfo=UTC),
            datetime(2026, 11, 20, 11, tzinfo=UTC),
            ("2026-11-20", "2026-11-21"),
        ),
        (
            datetime(2026, 11, 20, tzinfo=UTC),
            datetime(2026, 11, 21, tzinfo=UTC),
            ("2026-11-20", "2026-11-21"),
        ),
    ],
)
def test_a_review_is_of_whole_days_that_have_ended(since, until, expected):
    found = periods.whole_days(TimeRange(since, until), NOW)
    assert (f"{found.since:%F}", f"{found.until:%F}") == expected
    assert found.since.hour == found.since.minute == found.until.hour == found.until.minute == 0


def test_the_form_proposes_the_days_that_are_not_reviewed():
    month = TimeRange(NOW - 30 * DAY, NOW)
    days = [date(2026, 11, 20), NOW.date(), date(2026, 1, 1), None]
    found = [reviewing.form(month, [], [], "", NOW, first) for first in days]
    assert [each["from"] for each in found] == [
        "2026-11-20T00:00Z",
        f"{NOW - DAY:%F}T00:00Z",
        *2 * [f"{NOW - 29 * DAY:%F}T00:00Z"],
    ]


def test_the_form_contains_the_review_that_it_corrects():
    review = {
        "review": "AB-cd",
        "corrected_by": "",
        "servers_reviewed": "db1",
        "servers": ["db1"],
        "finding": "x",
    }
    review |= {"reviewed_from": NOW - 2 * DAY, "reviewed_to": NOW - DAY}
    found = reviewing.form(TimeRange(NOW - DAY, NOW), ["db1", "db2"], [review], "abcd", NOW)
    assert (found["chosen"], found["finding"], found["corrects"]) == (["db1"], "x", "abcd")
    assert found["from"] == "2026-11-22T08:30Z"
    (row,) = reviewing.listed([review], lambda id_: f"/{id_}")
    assert (row["correction"], row["correction_link"]) == ("Correct", "/abcd")
    (row,) = reviewing.listed([{**review, "corrected_by": "ef-01"}], lambda id_: f"/{id_}")
    assert (row["correction"], row["correction_link"]) == ("corrected by ef01", "")


def test_servers_with_gaps_come_first_and_unknown_minutes_are_no_zero():
    found = gaps.by_server(
        [server("good"), server("lost"), server("none", "no audit log")],
        [minutes("good"), minutes("lost", missing=3), minutes("lost", missing=1, unknown=2)],
    )
    assert [(row["instance"], row["missing"], row["unknown"]) for row in found] == [
        ("none", None, None),
        ("lost", 3, 2),
        ("good", 0, 0),
    ]
    days = [
        {"day_without_review": date(2026, 11, 1), "state": "not reviewed"},
        {"day_without_review": date(2026, 11, 3), "state": gaps.PARTLY_REVIEWED},
    ]
    numbers = gaps.headline(found, days, {})
    assert [each["value"] for each in numbers] == ["1", "3", "2", "2"]
    assert (
        numbers[-1]["note"]
        == "2026-11-01 to 2026-11-03, 1 partly reviewed; days without a known server do not count"
    )


def test_without_any_server_the_gaps_are_unknown():
    assert [each["value"] for each in gaps.headline([], [], {})] == ["unknown", "unknown", "unknown", "0"]


def test_minutes_of_servers_without_audit_are_unknown_and_not_zero():
    rows = gaps.by_server([server("none", gaps.NOT_AUDITED[0])], [])
    found = [each["value"] for each in gaps.headline(rows, [], {})]
    assert found == ["1", "unknown", "unknown", "0"]


def test_minutes_before_a_log_was_watched_are_unknown_and_nothing_of_them_is_known_to_be_complete():
    rows = gaps.by_server([server("new", "audit log read later")], [minutes("new", unknown=60)])
    assert [rows[0][name] for name in ("missing", "behind", "unknown", "watched")] == [None, None, 60, 0]
    numbers = {each["title"]: (each["value"], each["note"]) for each in gaps.headline(rows, [], {})}
    assert numbers["Minutes missing"] == ("unknown", "of 0 watched")
    assert numbers["Minutes unknown"] == ("60", "of 60, 1 server with a watched or listed audit log")


def test_a_reviewer_reads_what_the_logs_do_not_show():
    servers = [server("none", gaps.NOT_AUDITED[0]), server("db1", "audited")]
    found = gaps.by_server(servers, [minutes("db1", missing=2, unknown=1500)])
    assert gaps.unseen(found) == "minutes of audit logs: 2 missing, 1,500 unknown; 1 server without audit"
    assert gaps.unseen(gaps.by_server(servers[1:], [minutes("db1")])) == ""


def test_columns_have_the_kind_of_their_values():
    result = framework.load("pci").results["refused_access"]
    row = dict.fromkeys(result.columns, "x") | {"at": NOW, "user": None, "more": 7}
    kinds = {column.key: column.kind for column in rows.shown(result, [row])}
    assert (kinds["at"], kinds["user"], kinds["what"]) == ("time", "text", "code")
    assert {column.key for column in rows.complete([row], result)} == row.keys()
    assert [column.key for column in rows.complete([], result)] == list(result.columns)
    assert rows.shown(result, [])[0].title == "At"
    account, instance = rows.columns(["account", "instance", "privileges"], [])[:2]
    assert account.width > instance.width, "an account with its host is one word"


@pytest.mark.parametrize(
    ("environment", "problem"),
    [({}, actions.NOT_HERE), ({actions.SOCKET: "/nowhere/evidence.sock"}, actions.NOT_RUNNING)],
)
def test_without_the_service_the_page_states_why(environment, problem):
    assert actions.state(environment) == {"problem": problem, "key": "", "exports": []}


def test_intervals_that_are_not_covered_are_read_without_the_covered_ones():
    query = rows.not_covered(framework.result("coverage"))
    assert "WHERE state != 'covered'" in query and query.count("{limit:UInt32}") == 1
    assert "source NOT IN ('audit', 'general')" in query, "audit logs first"


def test_the_kind_of_a_loss_is_not_the_column_that_gives_way():
    result = framework.load("pci").results["gaps"]
    loss = dict.fromkeys(result.columns) | {"what": "lost"}
    widths = {column.key: column.width for column in rows.shown(result, [loss])}
    assert set(widths.values()) == {0}, "equal shares"


def test_results_link_to_dashboards_that_compliance_officers_see():
    for result, (title, slug) in rows.DASHBOARDS.items():
        assert framework.result(result)
        (file,) = [each for each in DASHBOARDS.glob("*.yaml") if f"\nslug: {slug}\n" in each.read_text()]
        known = yaml.safe_load(file.read_text())
        assert known["dashboard_title"] == title and "compliance" in known["roles"]


def test_a_signed_review_is_stated_with_its_period_and_servers():
    form = {
        "from": "2026-11-27T00:00Z",
        "to": "2026-11-28T00:00Z",
        "covers": "named servers",
        "servers": ["a", "b"],
    }
    assert reviewing.in_words(form) == "the review from 2026-11-27 00:00 to 2026-11-28 00:00 (UTC) of a, b"
    assert reviewing.in_words({**form, "covers": "all servers"}).endswith(" of all servers")


def test_a_bundle_states_its_framework_and_period_in_words():
    period = {"from": "2026-11-27T00:00:00+00:00", "to": "2026-11-29T00:00:00+00:00"}
    about = {"framework": "pci", "period": period, "exported_by": "ann\x1b"}
    assert bundles.stated(about) == [
        ("Framework", framework.load("pci").title),
        ("Period (UTC)", "2026-11-27 00:00 to 2026-11-29 00:00, end excluded"),
        ("Exported by", "ann\\x1b"),
    ]


@pytest.mark.parametrize("about", [{}, {"period": {"from": 1}, "framework": ["pci"], "exported_at": {}}])
def test_a_bundle_may_state_anything(about):
    assert len(bundles.stated(about)) == len(about)
