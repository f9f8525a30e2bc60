"""The parts of work pages that need neither Flask nor Superset: times, texts, CSV, links, permissions."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from tailrace.clickhouse.query_files import QUERIES
from tailrace.dashboards import roles as dashboard_roles
from tailrace_pages import columns, csv_table, formats, links, permissions, queries, time_range
from tailrace_pages.columns import MOST_LEAST, Column, least_width
from tailrace_pages.entities import reading
from tailrace_pages.page import Page
from tailrace_pages.page_errors import BadAddressError
from tailrace_pages.time_range import TimeRange

PAGES = Path(columns.__file__).parent
NOW = datetime(2026, 3, 1, 12, 0, 0, 500, tzinfo=UTC)


@pytest.mark.parametrize(("name", "span"), time_range.RANGES.items())
def test_a_range_ends_now(name, span):
    found = time_range.parse({"range": name}, NOW)
    assert found == TimeRange(NOW.replace(microsecond=0) - span, NOW.replace(microsecond=0), name)
    assert found.arguments() == {"range": name}


def test_a_range_of_two_times_is_in_utc_and_survives_a_link():
    given = {"from": "2026-02-01T01:00:00+01:00", "to": "2026-02-02T00:00:00Z"}
    found = time_range.parse(given, NOW)
    assert found.parameters() == {"from": "2026-02-01 00:00:00", "to": "2026-02-02 00:00:00"}
    assert time_range.parse(found.arguments(), NOW) == found
    assert found.before().until == found.since
    assert found.seconds == found.before().seconds == 86_400


@pytest.mark.parametrize(
    ("since", "until", "before"),
    [
        ("2026-02-10T00:00:00", "2026-02-10T09:44:00", ("2026-02-09 00:00", "2026-02-09 09:44")),
        ("2026-02-10T00:00:00", "2026-02-13T12:00:00", ("2026-02-06 00:00", "2026-02-09 12:00")),
        ("2026-02-10T00:00:00", "2026-02-17T00:00:00", ("2026-02-03 00:00", "2026-02-10 00:00")),
        ("2026-02-10T01:00:00", "2026-02-10T09:44:00", ("2026-02-09 16:16", "2026-02-10 01:00")),
    ],
)
def test_a_range_since_midnight_is_compared_with_the_same_hours_of_earlier_days(since, until, before):
    found = time_range.parse({"from": since, "to": until}, NOW).before()
    assert (f"{found.since:%F %H:%M}", f"{found.until:%F %H:%M}") == before


def test_yesterday_is_the_last_complete_day_in_utc_and_survives_a_link():
    found = time_range.parse({"range": "yesterday"}, NOW)
    assert found.parameters() == {"from": "2026-02-28 00:00:00", "to": "2026-03-01 00:00:00"}
    assert found.arguments() == {"range": "yesterday"}


def test_today_begins_at_midnight_in_utc_and_is_never_empty():
    found = time_range.parse({"range": "today"}, NOW)
    assert found.parameters() == {"from": "2026-03-01 00:00:00", "to": "2026-03-01 12:00:00"}
    assert found.arguments() == {"range": "today"}
    assert time_range.parse({"range": "today"}, NOW.replace(hour=0)).seconds == 1


def test_the_end_of_a_range_is_now_by_default_and_the_default_range_a_day():
    assert time_range.parse({"from": "2026-02-01"}, NOW).until == NOW.replace(microsecond=0)
    assert time_range.parse({}, NOW).seconds == 86_400


@pytest.mark.parametrize(
    "given",
    [
        {"range": "2y"},
        {"range": "'; DROP"},
        {"to": "2026-02-01T00:00:00Z"},
        {"from": "yesterday"},
        {"from": "2026-02-02", "to": "2026-02-01"},
        {"from": "1970-01-01"},
        {"from": "9999-12-31T23:59:59-12:00"},
        {"from": "2026-02-30"},
    ],
)
def test_a_range_that_does_not_exist_is_refused_with_a_sentence(given):
    with pytest.raises(BadAddressError, match=r"\.$"):
        time_range.parse(given, NOW)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "unknown"),
        (float("nan"), "unknown"),
        (0, "0 s"),
        (5e-9, "5 ns"),
        (83.4e-6, "83.4 µs"),
        (0.0012, "1.2 ms"),
        (7.25, "7.25 s"),
        (190, "3 min 10 s"),
        (11_520, "3 h 12 min"),
        (190_800, "2 d 5 h"),
        (-7.25, "-7.25 s"),
    ],
)
def test_durations(seconds, text):
    assert formats.duration(seconds) == text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (formats.count(1_234_567), "1,234,567"),
        (formats.count(0), "0"),
        (formats.count(2**64 - 1), "18,446,744,073,709,551,615"),
        (formats.number(12.3456), "12.3"),
        (formats.number(1234.5), "1,234"),
        (formats.size(999), "999 B"),
        (formats.size(1234), "1.23 kB"),
        (formats.size(5e15), "5 PB"),
        (formats.size(0), "0 B"),
        (formats.share(0.1234), "12.3 %"),
        (formats.share(0), "0.0 %"),
        (formats.share(0.0003), "< 0.1 %"),
        (formats.share(0.9997), "> 99.9 %"),
        (formats.share(1), "100.0 %"),
        (formats.change(5, 4), "+25 %"),
        (formats.change(3, 4), "-25 %"),
        (formats.change(46, 4), "12\N{MULTIPLICATION SIGN}"),
        (formats.change(3, 0), "new"),
        (formats.change(3, None), "unknown"),
        (formats.short_id("0123456789abcdef"), "01234567"),
        (formats.time(datetime(2026, 3, 1, 13, tzinfo=UTC)), "2026-03-01 13:00:00"),
        (formats.text({"user": "ann", "host": "a"}), "user=ann, host=a"),
        (formats.text(["a", "b"]), "a, b"),
        (formats.visible("a\x1b[31m\x00\u202e\nb"), "a\\x1b[31m\\x00\\u202e\nb"),
    ],
)
def test_texts(written, text):
    assert written == text


@pytest.mark.parametrize("kind", formats.KINDS)
def test_an_unknown_value_is_never_zero(kind):
    assert formats.of_kind(kind, None) == "unknown"


def test_a_file_contains_what_a_spreadsheet_reads_and_executes_nothing():
    columns = [
        Column("name", "Name"),
        Column("n", "Number", 8, "count"),
        Column("at", "Time (UTC)", 20, "time"),
    ]
    texts = ["=1+1", "+1", "-1", "@x", "\tx", 'a "b", c', "ann\nbob", "plain"]
    rows = [{"name": text, "n": -5, "at": NOW} for text in texts] + [{"name": None, "n": None, "at": None}]
    read = list(csv.reader(io.StringIO("".join(csv_table.lines(columns, rows)), newline="")))
    assert read[0] == ["Name", "Number", "Time (UTC)"]
    assert [row[0] for row in read[1:]] == ["'=1+1", "'+1", "'-1", "'@x", "'\tx", *texts[5:], ""]
    assert read[1][1:] == ["-5", "2026-03-01T12:00:00Z"]
    assert read[-1] == ["", "", ""], "unknown values are empty"


def test_numbers_of_a_file_are_plain_and_their_unit_is_in_the_heading():
    columns = [Column("seconds", "Total time", kind="duration"), Column("lag", "Lag (s)", kind="duration")]
    rows = [{"seconds": each, "lag": 2.5} for each in (1452.0, 141.25230800000023, 8.25e-7)]
    read = "".join(csv_table.lines(columns, rows)).splitlines()
    assert read == ["Total time (s),Lag (s)", "1452,2.5", "141.252308,2.5", "8.25e-07,2.5"]


@pytest.mark.parametrize(
    ("text", "written"),
    [("-2 %", "-2 %"), ("+1,250 %", "+1,250 %"), ("-2 %+A1", "'-2 %+A1"), ("+A1 %", "'+A1 %")],
)
def test_a_change_in_percent_is_a_number_of_a_spreadsheet(text, written):
    assert csv_table.cell(text) == written


def test_a_cut_file_says_so():
    rows = [{"n": number} for number in range(4)]
    read = "".join(csv_table.lines([Column("n", "N")], rows, limit=3)).splitlines()
    assert read[1:4] == ["0", "1", "2"]
    assert read[4].startswith("Only the first 3 rows")


def test_columns_have_the_widths_of_the_style_sheet():
    with pytest.raises(ValueError, match="width 7"):
        Column("n", "N", 7)
    with pytest.raises(ValueError, match="kind 'odd'"):
        Column("n", "N", kind="odd")
    assert Column("n", "N", kind="bytes").numeric


def test_a_table_has_a_least_width_of_the_style_sheet():
    assert least_width([Column("a", "A"), Column("n", "N", 6), Column("at", "At", 20)]) == 60
    assert least_width([Column("a", "A", 60)] * 9) == MOST_LEAST
    sheet = (PAGES / "static" / "pages.css").read_text()
    assert all(f".m{width} {{ min-width: {width}ch; }}" in sheet for width in range(20, MOST_LEAST + 1, 10))


def test_links_encode_names_and_keep_the_range():
    span = TimeRange(NOW - timedelta(hours=1), NOW, "1h")
    assert links.user("o'brien/../x?y", span) == "/tailrace/entities/user/o%27brien~2F..~2Fx%3Fy/?range=1h"
    assert links.user("..") == "/tailrace/entities/user/~2E~2E/"
    assert links.client("") == "/tailrace/entities/client/~/"
    assert links.session("", "db 1", 7) == "/tailrace/sessions/-/db%201/7/"
    assert links.alerts(span, rule="a&b") == "/tailrace/alerts/?rule=a%26b&range=1h"


def test_every_bundle_of_pages_is_one_of_roles_yaml():
    content = yaml.safe_load(dashboard_roles.FILE.read_text())["permissions"]
    for bundle in permissions.BUNDLES:
        granted = {(name, resource) for name, listed in content[bundle].items() for resource in listed}
        titles = {title for title, needed in permissions.MENU.items() if needed == bundle}
        expected = {permissions.permission_of(bundle), *((permissions.MENU_ACCESS, each) for each in titles)}
        assert granted == expected, bundle
    with pytest.raises(ValueError, match="unknown bundle"):
        permissions.permission_of("everything")


def test_a_page_has_a_title_of_the_menu():
    assert Page("Alert inbox", "/tailrace/alerts/").bundle == "read_alerts"
    with pytest.raises(ValueError, match="not in permissions"):
        Page("Else", "/tailrace/else/")


OF_KINDS = ("page_entity_", "page_session_")
"""Queries that tailrace_pages.entities renders for a kind of entity, a word of its own."""


@pytest.mark.parametrize("name", sorted(file.stem for file in QUERIES.glob("page_*.sql")))
def test_queries_of_pages_have_no_jinja_but_parts(name):
    text = reading.text(name, "user") if name.startswith(OF_KINDS) else queries.text_of(name)
    assert "{%" not in text
    assert queries.text_of("SELECT 1") == "SELECT 1"


def test_every_table_of_a_page_has_a_csv_file():
    templates = sorted((PAGES / "templates").rglob("*.html"))
    tables = [
        (template.name, text[call.start() : call.end() + 1500])
        for template in templates
        if template.name != "parts.html"
        for text in [template.read_text()]
        # The fields of a search are a part of the manual.
        for call in re.finditer(r"parts\.(select_)?table\((?!field_columns)", text)
    ]
    assert len(tables) > 10
    assert not [name for name, text in tables if 'class="csv"' not in text and "parts.csv()" not in text]
