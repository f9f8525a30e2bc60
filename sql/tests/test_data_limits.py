"""Tests the line that states what limits the data of a dashboard (data_limits.sql)."""

import re
from datetime import timedelta

import pytest
from developer_rows import HOUR, NOW, RANGE, executions

SLOW, ERRORS = "linked_limits", "linked_error_limits"


@pytest.fixture
def limits(user, rendered, metric):
    """Returns a function that returns the text of the line, without its link."""

    def ask(name: str) -> str:
        wanted = metric("data_limits", name, time_range=RANGE)
        (row,) = user("reader_developer").rows(
            f"SELECT {wanted} AS line FROM ({rendered('data_limits', *RANGE)}\n)"
        )
        return re.fullmatch(r'<a href="/superset/dashboard/[^"]+">(.*)</a>', row["line"])[1]

    return ask


def census(source: str, without: tuple[int, ...] = ()) -> list[dict]:
    """Returns a census of a log of db1 for each of the last 65 minutes, but for some of them."""
    log = {"cluster": "shop", "instance": "db1", "source": source, "log": source, "kind": "CENSUS"}
    times = [NOW - timedelta(minutes=number) for number in range(66) if number not in without]
    return [{**log, "at": f"{at:%Y-%m-%d %H:%M:%S}"} for at in times]


def test_without_logs_the_line_says_so(admin, limits):
    assert limits(SLOW) == "no slow query logged · coverage unknown"
    assert limits(ERRORS) == "coverage of error logs unknown (no census in the time range)"


def test_settings_are_those_of_servers_where_they_are_known(admin, user, settings, limits):
    settings(NOW - 3 * HOUR, long_query_time="1", slow_query_log="ON")
    slow = [
        *executions(1, timedelta(minutes=30), [2]),
        *executions(1, timedelta(minutes=30), [2], instance="db2"),
    ]
    user("writer").insert("tailrace.query_events", slow)
    user("writer").insert("tailrace.ledger", census("slowlog"))

    assert limits(SLOW) == "slow log ≥ 1 s on 1 of 2 servers (unknown on 1: no snapshot) · no minute missing"
    assert limits(ERRORS) == "coverage of error logs unknown (no census in the time range)"


def test_minutes_before_the_first_census_are_unknown(admin, user, limits):
    user("writer").insert("tailrace.ledger", census("errorlog", without=(20, *range(30, 66))))

    since = f"{NOW - timedelta(minutes=29):%Y-%m-%d %H:%M}"
    share = "coverage of 53.3 % of the minutes unknown"
    assert limits(ERRORS) == f"error logs of 1 of 1 server · {share} · no census before {since} UTC"


def test_minutes_without_a_census_are_unknown(admin, user, limits):
    rows = [*census("errorlog", without=(20, 30, 31)), *census("slowlog")]
    user("writer").insert("tailrace.ledger", rows)

    assert limits(ERRORS) == "error logs of 1 of 1 server · coverage of 5 % of the minutes unknown"


def test_a_report_of_a_period_before_the_first_record_says_so(admin, user, rendered):
    def first_record(*days: int) -> str:
        since, until = ((NOW - timedelta(days=day)).isoformat() for day in days)
        (row,) = user("reader_developer").rows(rendered("report_period", since, until))
        return row["first_record"]

    assert first_record(7, 0) == "none"
    user("writer").insert("tailrace.query_events", executions(1, timedelta(days=3), [2]))
    day = f"{NOW - timedelta(days=3):%F}"
    assert (first_record(7, 0), first_record(20, 13)) == (day, f"{day}, after the period")


def test_each_kind_of_log_has_its_own_number_of_servers(admin, user, rendered, metric):
    """A server with an error log and without an audit log does not count as one with both."""
    other = [{**row, "instance": "db2"} for row in census("errorlog")]
    user("writer").insert("tailrace.ledger", [*census("audit"), *census("errorlog"), *other])

    wanted = metric("data_limits_security", "linked_login_limits", time_range=RANGE)
    (row,) = user("reader_security").rows(
        f"SELECT {wanted} AS line FROM ({rendered('data_limits', *RANGE)}\n)"
    )
    assert ">audit logs of 1 of 2 servers, error logs of 2 of 2 servers · no minute missing<" in row["line"]
