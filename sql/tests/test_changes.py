"""Tests the changes of big numbers against the equally long period before (parts/change.sql)."""

import re
from collections.abc import Callable
from datetime import timedelta

import jinja2
import pytest
from days import now_before_midnight
from developer_rows import HOUR, NOW, RANGE, executions, insert_executions, message

from tailrace.clickhouse.query_files import QUERIES, with_included_queries
from tailrace.dashboards import asset_files, changes

NOT_COVERED = "previous period not covered"
OF_ENTRIES = "against the previous period, coverage unknown"
"""The end of a change if entries reach back, and no census."""
ASSETS = asset_files.load()
CHARTS = [each for each in ASSETS if each.kind == "charts" and changes.has_changes(each.content)]
EIGHT_HOURS = ((NOW - 8 * HOUR).isoformat(), NOW.isoformat())


@pytest.fixture
def changed(user, rendered, metric) -> Callable[..., list[str]]:
    """Returns a function that returns the changes of a chart, as Superset asks for them."""

    def ask(chart: str, time_range: tuple[str, str] = RANGE, **filters: list[str]) -> list[str]:
        content = next(each.content for each in CHARTS if each.name == chart)
        dataset = next(each for each in ASSETS if each.file == f"datasets/{content['dataset']}.yaml").content
        name = content["dataset"]
        wanted = metric(name, changes.METRIC.format(chart), time_range=time_range, **filters)
        query = rendered(dataset["sql"].removesuffix(".sql"), *time_range, **filters)
        where = _chosen(dataset, time_range, filters)
        (row,) = user(READERS[dataset["database"]]).rows(
            f"SELECT {wanted} AS changes FROM ({query}\n) AS virtual_table WHERE {where}"
        )
        return re.findall("<em>(.*?)</em>", row["changes"])

    return ask


READERS = {
    "tailrace": "reader_developer",
    "tailrace_audit": "reader_compliance",
    "tailrace_security": "reader_security",
}


def _chosen(dataset: dict, time_range: tuple[str, str], filters: dict[str, list[str]]) -> str:
    """Returns the conditions that Superset adds for the time range and the filters."""
    since, until = (time[:19].replace("T", " ") for time in time_range)
    at = dataset.get("main_dttm_col")
    within = [f"{at} >= toDateTime('{since}', 'UTC') AND {at} < toDateTime('{until}', 'UTC')"] if at else []
    return " AND ".join(within + [f"{column} IN {values}" for column, values in filters.items()]) or "true"


def test_numbers_are_compared_with_the_equally_long_period_before(admin, user, changed):
    insert_executions(user("writer"))

    executions_, total_seconds, *_ = changed("slow_numbers")
    assert executions_ == f"+31 % {OF_ENTRIES}"  # 185 after 141
    assert re.fullmatch(rf"\+\d+ % {OF_ENTRIES}", total_seconds)
    assert len(changed("slow_numbers")) == 5


def test_both_periods_are_filtered(admin, user, changed):
    insert_executions(user("writer"))
    user("writer").insert(
        "tailrace.query_events",
        [
            *executions(9, timedelta(minutes=50), [0.1] * 6, user="ann"),
            *executions(9, timedelta(minutes=110), [0.1] * 8, user="ann"),
        ],
    )
    assert changed("slow_numbers", user=["ann"])[0] == f"-25 % {OF_ENTRIES}"


def test_today_is_compared_with_the_same_hours_of_yesterday(admin, user, changed):
    now = now_before_midnight()
    today = now.replace(hour=0, minute=0, second=0)
    tomorrow = today + timedelta(days=1)
    whole_day = (f"{today:%F}T00:00:00", f"{tomorrow:%F}T00:00:00")
    into_day = min(timedelta(seconds=1), now - today)
    user("writer").insert(
        "tailrace.query_events",
        [
            *executions(9, NOW - today - into_day, [0.1] * 3),
            *executions(9, NOW - today - into_day + timedelta(days=1), [0.1] * 2),
            *executions(9, NOW - today - into_day + timedelta(days=3), [0.1]),
            *executions(9, NOW - today + timedelta(seconds=10), [0.1] * 7),  # the end of yesterday
        ],
    )
    yesterday = f"{today - timedelta(days=1):%-d %b}"
    assert changed("slow_numbers", whole_day)[0].startswith(f"+50 % against {yesterday} until ")


def test_a_period_before_the_first_entry_is_not_covered(admin, user, changed):
    insert_executions(user("writer"))  # its first entry is two and a half hours old
    two_hours = ((NOW - 2 * HOUR).isoformat(), NOW.isoformat())

    assert changed("slow_numbers", two_hours) == [NOT_COVERED] * 5
    assert changed("errors_numbers") == [NOT_COVERED] * 4, "no error log is known"


def test_a_server_that_is_new_makes_the_periods_incomparable(admin, user, changed):
    insert_executions(user("writer"))
    user("writer").insert(
        "tailrace.query_events", executions(9, timedelta(minutes=30), [1] * 9, instance="db2")
    )

    assert changed("slow_numbers")[0] == "previous period read from 1 of 2 logs"
    assert changed("slow_numbers", instance=["db2"])[0] == NOT_COVERED
    assert changed("slow_numbers", cluster=["crm"], instance=["db1"])[0] == "no log of the chosen servers"
    assert changed("slow_numbers", instance=["db1"])[0] == f"+31 % {OF_ENTRIES}"


def test_numbers_are_not_compared_across_a_change_of_the_logging_settings(admin, user, settings, changed):
    insert_executions(user("writer"))
    settings(NOW - 3 * HOUR, long_query_time="1", slow_query_log="ON")
    assert changed("slow_numbers")[0] == f"+31 % {OF_ENTRIES}"
    settings(NOW - timedelta(minutes=90), long_query_time="0.1", slow_query_log="ON")

    assert changed("slow_numbers") == ["not comparable: logging settings changed"] * 5


def test_a_trace_is_not_compared(admin, user, changed):
    call = {"TraceId": f"{1:032x}", "SpanId": f"{1:016x}", "SpanKind": "Client", "query_id": 5, "Duration": 1}
    at = f"{NOW - timedelta(minutes=5):%Y-%m-%d %H:%M:%S}"
    user("writer").insert("tailrace.otel_traces", [{**call, "Timestamp": at, "ServiceName": "shop"}])
    assert len(changed("traces_numbers")) == 4
    assert changed("traces_numbers", trace_id=[f"{1:032x}"]) == []


def test_a_census_covers_a_period_before_its_first_entry(admin, user, changed):
    census = {
        "cluster": "shop",
        "instance": "db1",
        "source": "errorlog",
        "log": "error.log",
        "kind": "CENSUS",
    }
    user("writer").insert("tailrace.ledger", [{**census, "at": f"{NOW - 2.5 * HOUR:%Y-%m-%d %H:%M:%S}"}])
    entries = [message("other", 70), message("deadlock", 10), message("deadlock", 20)]
    user("writer").insert("tailrace.error_events", entries)

    assert changed("errors_numbers") == ["new, 0 in the previous period", *["as in the previous period"] * 3]


def test_a_change_says_that_a_log_was_not_watched_in_the_period_before(admin, user, changed):
    insert_executions(user("writer"))
    census = {"cluster": "shop", "instance": "db1", "source": "slowlog", "log": "slow.log", "kind": "CENSUS"}
    user("writer").insert("tailrace.ledger", [{**census, "at": f"{NOW - timedelta(minutes=4):%F %T}"}])
    assert changed("slow_numbers")[0] == f"+31 % {OF_ENTRIES}"

    user("writer").insert("tailrace.ledger", [{**census, "at": f"{NOW - 2.5 * HOUR:%F %T}"}])
    assert changed("slow_numbers")[0] == "+31 % against the previous period"


def test_the_statement_of_query_detail_is_the_same_in_both_periods(admin, user, changed):
    heavy_before, heavy_now = 21, 22
    user("writer").insert(
        "tailrace.query_events",
        [
            *executions(heavy_before, 20 * HOUR, [1]),
            *executions(heavy_before, 12 * HOUR, [100] * 50),
            *executions(heavy_now, 12 * HOUR, [1] * 10),
            *executions(heavy_now, 2 * HOUR, [50] * 20),
        ],
    )
    assert changed("query_numbers", EIGHT_HOURS)[0] == f"+100 % {OF_ENTRIES}"


PERIOD_TEXTS = {
    (12, 10, "percent"): "+20 % against the previous period",
    (9.5, 10, "percent"): "-5 % against the previous period",
    (1003, 1000, "percent"): "+0.3 % against the previous period",
    (120, 10, "percent"): "12 times the previous period",
    (115_280, 10, "percent"): "11,528 times the previous period",
    (0, 10, "percent"): "-100 % against the previous period",
    (3, 0, "percent"): "new, 0 in the previous period",
    (0, 0, "percent"): "as in the previous period",
    (0.95, 0.99, "points"): "-4 points against the previous period",
    (3, None, "percent"): "previous period unknown",
    (None, 3, "percent"): "",
}
DAY_TEXTS = {
    (12, 10, "percent"): "+20 % on 1 Nov, against 31 Oct",
    (120, 10, "percent"): "12 times that of 31 Oct",
    (3, 0, "percent"): "new, 0 on 31 Oct",
    (0, 0, "percent"): "as on 31 Oct",
    (0.95, 0.99, "points"): "-4 points on 1 Nov, against 31 Oct",
    (3, None, "percent"): "previous period unknown",
}


PART_TEXTS = {
    (12, 10, "percent"): "+20 % against 31 Oct until 09:44",
    (120, 10, "percent"): "12 times that of 31 Oct until 09:44",
    (3, 0, "percent"): "new, 0 on 31 Oct until 09:44",
    (0, 0, "percent"): "as on 31 Oct until 09:44",
}


@pytest.mark.parametrize(
    ("time_range", "shown"),
    [
        (("2025-11-01T00:00:00", "2025-11-02T00:00:00"), DAY_TEXTS),
        (("2025-11-01T01:00:00", "2025-11-02T01:00:00"), PERIOD_TEXTS),
        (("2025-11-01T00:00:00", "2025-11-03T00:00:00"), PERIOD_TEXTS),
        (("2025-11-01T00:00:00", "2025-11-01T09:44:00"), PART_TEXTS),
    ],
    ids=["a day", "no day", "two days", "a part of a day"],
)
def test_texts_of_changes(user, admin, time_range, shown):
    macro = '{%- include "parts/change.sql" -%}\n{{ change_text() }}'
    included = with_included_queries(macro, QUERIES)
    environment = jinja2.Environment()
    environment.filters["where_in"] = str  # of macros that are not called here
    text = environment.from_string(included).render(from_dttm=time_range[0], to_dttm=time_range[1])
    for (value, was, unit), expected in shown.items():
        columns = {"value": value, "was": was}
        given = ", ".join(
            f"CAST({'NULL' if each is None else each}, 'Nullable(Float64)') AS {name}"
            for name, each in columns.items()
        )
        (row,) = user("admin").rows(f"SELECT {text} AS shown FROM (SELECT {given}, '{unit}' AS unit)")
        assert row["shown"] == expected, (value, was)


def test_changes_of_every_chart_can_be_asked_for_by_their_readers(admin, changed):
    assert len(CHARTS) > 20
    for chart in CHARTS:
        found = changed(chart.name)
        assert len(found) == len(chart.content["numbers"]), chart.name
        stated = [
            text for text, each in zip(found, chart.content["numbers"], strict=True) if "change" in each
        ]
        assert not [text for text in stated if "%" in text or text.startswith("as in")], chart.name
        assert "" not in stated or chart.content["dataset"] in ("accounts",), "unknown is stated"
