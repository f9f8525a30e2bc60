"""The page Setup over HTTP. The rows are 3 days old, so that the server is silent at any time of a test."""

import csv
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache

import pytest

from dashboards.tests.inserted_rows import rows_of
from dashboards.tests.pages import parsed
from e2e.stack import Stack

pytestmark = pytest.mark.browser

INSTANCE = "pages-setup"
NEVER = "pages-setup-never"
"""A server that sources.yaml lists and that never sent anything."""
AT = f"{datetime.now(UTC) - timedelta(days=3):%Y-%m-%d %H:%M:%S}"
SETTINGS = {
    "slow_query_log": "OFF",
    "log_output": "FILE",
    "long_query_time": "10",
    "log_error": "/var/log/<script>.log",
    "log_error_verbosity": "2",
}
NOW = datetime.now(UTC)
COST = {
    "source": "slowlog",
    "log": "/rds/<script>",
    "since": f"{NOW - timedelta(hours=3):%F %T}",
    "at": f"{NOW - timedelta(hours=1):%F %T}",
    "requests": 100,
    "received_bytes": 2_000_000,
    "line_bytes": 1_000_000,
}
"""What a pulled log cost in 2 hours, a 360th part of a month."""
UNABLE = {"can_fire": False, "missing_fields": ["rows_sent"], "reason": "this log lacks rows_sent"}


@pytest.fixture(scope="module")
def planted(stack: Stack) -> Iterator[Stack]:
    """Rows of one server, which are deleted afterwards."""
    whose = {"cluster": "shop", "instance": INSTANCE}
    log = {**whose, "source": "audit", "log": "/a.log", "generation": 1, "at": AT}
    snapshot = {
        **whose,
        "at": AT,
        "product": "mysql",
        "version": "8.4.3",
        "status": "ok",
        "part": 1,
        "parts": 1,
    }
    fact = {**whose, "kind": "settings", "since": AT, "last_seen": AT}
    coverage = {**whose, "source": "", "level": "high", "in_force": True, "can_fire": True, "told_at": AT}
    rows = {
        "ledger": [{**log, "kind": "CENSUS", "size": 100}, {**log, "kind": "FRONTIER", "to_offset": 100}],
        "server_snapshots": [
            {**snapshot, "kind": "settings"},
            {**snapshot, "kind": "audit", "status": "denied"},
        ],
        "pull_costs": [{**whose, **COST}],
        "server_facts": [
            {**fact, "key": name, "attributes": {"value": value}} for name, value in SETTINGS.items()
        ],
        "rule_coverage": [
            {**coverage, "rule_id": "a", "rule_title": "Password guessing"},
            {**coverage, "rule_id": "b", "rule_title": "Bulk read", **UNABLE},
            {**coverage, "rule_id": "c", "rule_title": "Large result", **UNABLE},
        ],
    }
    entry = {"cluster": "shop", "instance": NEVER, "host": "box", "action": "listed", "at": AT}
    entries = [{**entry, "source": "audit", "log": "/<script>.log"}, {**entry, "source": "server"}]
    with rows_of(stack, INSTANCE, rows), rows_of(stack, NEVER, {"listed_logs": entries}):
        yield stack


@pytest.fixture(scope="module")
def shown(planted: Stack, visitors) -> Callable[..., str]:
    """Returns the text of a page for an audience, after one request per page."""

    def show(user: str, **arguments: str) -> str:
        answer = visitors[user].get("/tailrace/setup/", **arguments)
        assert answer.status_code == 200, answer.text
        if "format" in arguments:
            return answer.text
        assert "<script>" not in answer.text
        return " ".join(" ".join(parsed(answer.text).words).split())

    return cache(show)


def test_all_servers_with_their_sources(shown):
    row = shown("security").partition(INSTANCE)[2]
    assert row.index("8.4.3") < row.index("silent") < row.index("not watched") < row.index("1 of 3")


def test_one_server_with_what_to_change(shown):
    text = shown("compliance", instance=INSTANCE)
    for expected in (
        "no census since",
        "SET PERSIST slow_query_log = ON;",
        "SET PERSIST long_query_time = 0.5;",
        "the state of auditing is unknown",
        "sources.yaml does not list it",
        'path: "/var/log/<script>.log"',
        "audit: denied",
    ):
        assert expected in text, expected


def test_what_a_pulled_log_costs_a_day_and_a_month(shown):
    text = shown("developer", instance=INSTANCE).partition("Cost of pulled logs")[2]
    row = text.partition("/rds/<script>")[2]
    assert (
        row.index("100") < row.index("2 MB") < row.index("1 MB") < row.index("36,000") < row.index("720 MB")
    )
    (_, line, *_) = shown("developer", instance=INSTANCE, format="csv", table="costs").splitlines()
    assert line.startswith("/rds/<script>") and line.count(",") == 5
    headline = shown("security").partition("Requests of pulled logs in 24 h")[2]
    assert "received" in headline[:80]


def test_a_listed_server_that_never_sent_anything_is_shown_with_the_time_and_the_steps(shown):
    for user in ("compliance", "developer"):
        row = shown(user).partition(NEVER)[2]
        assert row.index("never arrived") < row.index("not watched") < row.index("2")
        assert "never sent anything" in shown(user).partition("Servers")[2]
    text = shown("compliance", instance=NEVER)
    since = f"{AT[:16]} UTC"
    assert f"/<script>.log is listed in sources.yaml since {since}, and it never sent anything" in text
    assert f"the server is listed in sources.yaml since {since}, and no snapshot of it ever arrived" in text
    assert "check the path in sources.yaml" in text and "tailrace logs capture" in text
    problems = list(csv.DictReader(shown("security", instance=NEVER, format="csv").splitlines()))
    states = {row["Source"]: row["State"] for row in problems}
    assert (states["Audit log"], states["Snapshots"]) == ("never arrived", "never arrived")


def test_rules_that_cannot_fire_are_grouped_by_the_change(shown):
    text = shown("security", instance=INSTANCE)
    assert "1 of 3 rules can raise alerts here" in text
    rules = text.partition("1 of 3 rules")[2]
    assert (
        rules.index("this log lacks rows_sent") < rules.index("Bulk read") < rules.index("the slow query log")
    )
    assert "Password guessing" not in rules


def test_developers_see_what_their_account_may_read(shown):
    assert "Rules that can fire" not in shown("developer")
    text = shown("developer", instance=INSTANCE)
    assert "SET PERSIST slow_query_log = ON;" in text
    assert "The roles compliance and security see the settings of auditing" in text
    assert "Slow query log off (slow_query_log = OFF)" in text
    assert "The roles compliance and security see which rules can fire" in text


def test_tables_as_csv(shown):
    problems = list(csv.DictReader(shown("security", instance=INSTANCE, format="csv").splitlines()))
    assert {row["Source"] for row in problems} >= {"Audit log", "Slow query log", "Snapshots"}
    assert any("SET PERSIST slow_query_log = ON;" in row["To change"] for row in problems)
    rules = list(
        csv.DictReader(shown("security", instance=INSTANCE, format="csv", table="rules").splitlines())
    )
    assert [row["Rule"] for row in rules] == ["Bulk read", "Large result"]
    assert INSTANCE in shown("developer", format="csv")
