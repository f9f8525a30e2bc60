"""Tests the pure parts of the pages of entities: addresses, numbers, chart, pages of records, tables."""

from datetime import UTC, datetime, timedelta
from urllib.parse import unquote

import pytest

from tailrace.rules.data_classes import ClassPattern
from tailrace_pages.entities import addresses, kinds, listing, overview, records
from tailrace_pages.entities.kinds import Entity
from tailrace_pages.entities.reading import Reading
from tailrace_pages.entities.records import Position
from tailrace_pages.page_errors import BadAddressError
from tailrace_pages.read_bars import ReadBars
from tailrace_pages.time_range import TimeRange

BEGIN = datetime(2026, 11, 24, tzinfo=UTC)
DAY = TimeRange(BEGIN, BEGIN + timedelta(days=1))
ALL_LOGS = dict.fromkeys(("has_audit", "has_general", "has_slow", "has_slow_errors", "has_error"), True)
SLOW_ONLY = {**dict.fromkeys(ALL_LOGS, False), "has_slow": True}
EVERYWHERE = overview.Logs([ALL_LOGS])
LONG_AGO = {"earliest": BEGIN - timedelta(days=90)}


def read_since(hour: int) -> ReadBars:
    """The audit and slow query logs begin at this hour of the day, and have records until its end."""
    first, last = (int((BEGIN + timedelta(hours=each)).timestamp()) for each in (hour, 24))
    known = {"first_second": first, "census_second": 0, "last_second": last, "step": 3600, "slots": []}
    return ReadBars([{"source": source, **known} for source in ("audit", "slowlog")])


ALWAYS = read_since(0)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("ann", "ann"),
        ("10.0.3.9", "10.0.3.9"),
        ("fe80::1", "fe80::1"),
        ("журнал", "%D0%B6%D1%83%D1%80%D0%BD%D0%B0%D0%BB"),
        ("a/b", "a~2Fb"),
        ("a\\b", "a~5Cb"),
        ("..", "~2E~2E"),
        (".", "~2E"),
        ("", "~"),
        ("~", "~7E"),
        ("~41", "~7E41"),
        ("a\n\x00b", "a~0A~00b"),
        ("\x85", "~C2~85"),
        ("a?b#c%41 d", "a%3Fb%23c%2541%20d"),
        ("o'\"<script>", "o%27%22%3Cscript%3E"),
        ("\ufffd", "%EF%BF%BD"),
    ],
)
def test_an_address_carries_exactly_the_name(name, part):
    assert addresses.entity("user", name) == f"/tailrace/entities/user/{part}/"
    assert addresses.decode(unquote(part)) == name


def test_an_address_that_is_typed_is_read():
    assert addresses.decode("a~b") == "a~b"
    assert addresses.decode("shop/cards") == "shop/cards"
    with pytest.raises(BadAddressError, match="not UTF-8"):
        addresses.decode("~FF")


def test_links_keep_the_time_range():
    assert (
        addresses.session("shop", "db/1", 7, {"range": "7d"}) == "/tailrace/sessions/shop/db~2F1/7/?range=7d"
    )


def bar_of(hour: int, is_current: bool = True, **counts: int) -> dict:
    nothing = dict.fromkeys(("logins", "refused", "statements", "errors"), 0)
    found = {**nothing, **counts}
    time = BEGIN + timedelta(hours=hour) if is_current else datetime.fromtimestamp(0, UTC)
    return {"is_current": is_current, "bar": time, "kinds": {"statement": found["statements"]}, **found}


def noted(
    rows: list[dict],
    logs: list[dict],
    alerts: tuple = (),
    watched_since: datetime = BEGIN - timedelta(days=9),
    span: TimeRange = DAY,
) -> dict[str, tuple[str, str]]:
    census = int(watched_since.timestamp())
    read = ReadBars([{"source": source, "census_second": census} for source in overview.SOURCES.values()])
    of_session = overview.numbers(kinds.OF_ACTORS, rows, alerts, overview.Logs(logs), span, read, False)
    assert not any("period" in item["note"] or "Nov" in item["note"] for item in of_session)
    found = overview.numbers(kinds.OF_ACTORS, rows, alerts, overview.Logs(logs), span, read)
    return {item["title"]: (item["value"], item["note"]) for item in found}


def test_a_number_has_its_change():
    rows = [bar_of(0, False, statements=4), bar_of(3, statements=2), bar_of(5, statements=4)]
    found = noted(rows, [{**ALL_LOGS, **LONG_AGO}])
    assert found["Statements"] == ("6", "+50 %, 4 on 23 Nov")
    assert found["Logins"] == ("0", "none on 23 Nov")


@pytest.mark.parametrize(
    ("begin", "hours", "when"),
    [
        (0, 9.5, "on 23 Nov until 09:30"),
        (0, 24, "on 23 Nov"),
        (0, 48, "in the previous period"),
        (1, 2, "in the previous period"),
    ],
)
def test_a_range_since_midnight_is_compared_with_the_same_hours_of_the_day_before(begin, hours, when):
    since = BEGIN + timedelta(hours=begin)
    span = TimeRange(since, since + timedelta(hours=hours))
    found = noted(
        [bar_of(0, False, statements=4), bar_of(3, statements=2)], [{**ALL_LOGS, **LONG_AGO}], span=span
    )
    assert found["Statements"] == ("2", f"-50 %, 4 {when}")
    assert found["Logins"] == ("0", f"none {when}")


def test_a_number_without_a_log_is_unknown_and_never_zero():
    found = noted([bar_of(3, statements=2)], [{**SLOW_ONLY, **LONG_AGO}])
    assert found["Logins"] == ("unknown", "no audit log or general log in this range")
    assert found["Refused logins"] == ("unknown", "no audit log, error log or general log in this range")
    errors = "no audit log or slow query log with errors in this range"
    assert found["Errors"] == ("unknown", errors)
    assert found["Statements"][0] == "2"
    assert noted([], [])["Statements"][0] == "unknown"


def test_a_count_of_a_part_of_the_logs_is_the_least():
    logged = {**SLOW_ONLY, "has_error": True, **LONG_AGO}
    assert noted([bar_of(3, errors=2)], [logged])["Errors"] == (
        "≥ 2",
        "no audit log or slow query log with errors in this range",
    )
    with_errors = {**SLOW_ONLY, "has_slow_errors": True, **LONG_AGO}
    assert noted([], [with_errors])["Errors"] == ("0", "none on 23 Nov")


def test_a_number_of_some_servers_says_so():
    servers = [{**ALL_LOGS, **LONG_AGO}, {**SLOW_ONLY, **LONG_AGO}]
    assert noted([bar_of(1, logins=3)], servers)["Logins"] == (
        "3",
        "none on 23 Nov; known for 1 of 2 servers",
    )


def test_a_change_is_unknown_if_the_logs_begin_later_than_a_tenth_after_the_earlier_period():
    before = bar_of(0, False, logins=2)
    begin = BEGIN - timedelta(hours=21.6)
    young, younger = ({**ALL_LOGS, "earliest": each} for each in (begin, begin + timedelta(seconds=1)))
    assert noted([before, bar_of(1, logins=3)], [young])["Logins"] == ("3", "+50 %, 2 on 23 Nov")
    assert noted([before, bar_of(1, logins=3)], [younger])["Logins"] == ("3", "23 Nov not covered")


def test_a_change_says_that_the_logs_were_not_watched_in_the_previous_period():
    rows = [bar_of(0, False, statements=4), bar_of(3, statements=2), bar_of(5, statements=4)]
    found = noted(rows, [{**ALL_LOGS, **LONG_AGO}], watched_since=BEGIN)
    assert found["Statements"] == ("6", "+50 %, 4 on 23 Nov, coverage unknown")


def test_alerts_are_counted_by_period_and_by_bar():
    alerts = [{"event_time": BEGIN + timedelta(hours=hour, minutes=5)} for hour in (-3, 2, 2)]
    assert noted([], [{**ALL_LOGS, **LONG_AGO}], alerts)["Alerts"] == (
        "2",
        "+100 %, 1 on 23 Nov",
    )
    bars = overview.bars(kinds.OF_ACTORS, [bar_of(2, logins=1)], alerts, EVERYWHERE, DAY, ALWAYS)
    assert len(bars) == 24
    assert [
        (row["bar"].hour, row["alerts"], row["logins"]) for row in overview.busy(kinds.OF_ACTORS, bars)
    ] == [(2, 2, 1)]


def test_the_chart_has_no_bars_of_an_unknown_number():
    logs = overview.Logs([SLOW_ONLY])
    bars = overview.bars(kinds.OF_ACTORS, [bar_of(2, statements=5)], [], logs, DAY, ALWAYS)
    drawn = overview.chart(kinds.OF_ACTORS, bars, logs)
    assert [series["label"] for series in drawn["series"]] == ["Statements", "Alerts"]
    assert {row["errors"] for row in bars} == {None}, "nor has the CSV file a 0"
    assert drawn["series"][0]["values"][2] == 5 and drawn["times"][0] == int(BEGIN.timestamp())


def test_a_count_before_the_logs_begin_is_unknown_and_not_zero():
    read = read_since(3)
    bars = overview.bars(
        kinds.OF_ACTORS, [bar_of(1, logins=1), bar_of(4, logins=2)], [], EVERYWHERE, DAY, read
    )
    assert [row["logins"] for row in bars[:6]] == [None, 1, None, 0, 2, 0]
    assert overview.begin(kinds.OF_ACTORS, read, DAY) == BEGIN + timedelta(hours=3)
    assert overview.begin(kinds.OF_ACTORS, ALWAYS, DAY) is None
    assert len(overview.busy(kinds.OF_ACTORS, bars)) == 2


@pytest.mark.parametrize(
    ("seconds", "width", "bars"),
    [
        (900, 60, 15),
        (6 * 3600, 60, 360),
        (86_400, 3600, 24),
        (14 * 86_400, 3600, 336),
        (90 * 86_400, 86_400, 90),
    ],
)
def test_bars_are_minutes_hours_or_days(seconds, width, bars):
    span = TimeRange(BEGIN, BEGIN + timedelta(seconds=seconds))
    assert overview.width_of(span) == width
    assert len(overview.bars(kinds.OF_DATA, [], [], EVERYWHERE, span, ALWAYS)) == bars


def record(second: int, name: str) -> dict:
    return {"event_time": BEGIN + timedelta(seconds=second), "id": name}


def test_alerts_are_between_records_and_pages_end_at_either():
    found = [record(9, "r9"), record(5, "r5"), record(3, "r3")]
    alerts = [record(7, "a7"), record(5, "a5"), record(1, "a1")]
    rows, following = records.merged(found, alerts, None, 3)
    assert [row["id"] for row in rows] == ["r9", "a7", "r5"]
    assert following == Position(BEGIN + timedelta(seconds=5), "r5")
    rows, following = records.merged([record(3, "r3")], alerts, following, 3)
    assert ([row["id"] for row in rows], following) == (["a5", "r3", "a1"], None)


def test_alerts_are_between_records_with_the_oldest_first():
    found = [record(3, "r3"), record(5, "r5"), record(9, "r9")]
    alerts = [record(7, "a7"), record(5, "a5"), record(1, "a1")]
    rows, following = records.merged(found, alerts, None, 3, oldest=True)
    assert [row["id"] for row in rows] == ["a1", "r3", "a5"]
    rows, following = records.merged(found[1:], alerts, following, 3, oldest=True)
    assert ([row["id"] for row in rows], following) == (["r5", "a7", "r9"], None)


def test_the_order_is_one_of_two():
    assert [records.oldest_first(order) for order in records.ORDERS] == [False, True]
    with pytest.raises(BadAddressError, match="order=time does not exist"):
        records.oldest_first("time")


def test_a_position_is_read_from_its_argument():
    place = Position(BEGIN + timedelta(microseconds=1), "id~1")
    assert records.position(place.argument()) == place
    assert records.position("") is None
    for wrong in ("yesterday", "~", "2026-11-24~a"):
        with pytest.raises(BadAddressError):
            records.position(wrong)
    with pytest.raises(BadAddressError, match="kind=x does not exist"):
        records.kind("x")


def test_a_page_reads_as_much_time_as_it_needs():
    rows = [bar_of(0, False, statements=999), *[bar_of(hour, statements=10) for hour in range(24)]]

    def begin(before: Position | None, limit: int, kind: str = "") -> datetime:
        return records.lowest(rows, DAY, 3600, before, kind, limit)

    assert begin(None, 15) == BEGIN + timedelta(hours=22)
    assert begin(None, 15, "statement") == BEGIN + timedelta(hours=22)
    assert begin(None, 15, "failed") == BEGIN
    assert begin(Position(BEGIN + timedelta(hours=10, minutes=30), ""), 11) == BEGIN + timedelta(hours=8)
    assert begin(Position(BEGIN + timedelta(hours=1), ""), 11) == BEGIN

    def end(after: Position | None, limit: int, kind: str = "") -> datetime:
        return records.highest(rows, DAY, 3600, after, kind, limit)

    assert end(None, 15) == end(None, 15, "statement") == BEGIN + timedelta(hours=2)
    assert end(None, 15, "failed") == DAY.until
    assert end(Position(BEGIN + timedelta(hours=10, minutes=30), ""), 11) == BEGIN + timedelta(hours=13)
    assert end(Position(BEGIN + timedelta(hours=23), ""), 11) == DAY.until


def test_an_unknown_value_has_no_link():
    rows = [{"dimension": "user", "value": value, "value_count": 30, "reads": 1} for value in ("ann", "")] + [
        {"dimension": "program", "value": "mysql", "value_count": 1}
    ]
    users, clients, programs = listing.others(Entity("class", "pci"), rows, EVERYWHERE, {"range": "30d"})
    assert [(row["value"], row["address"]) for row in users.rows] == [
        ("ann", "/tailrace/entities/user/ann/?range=30d"),
        ("unknown", ""),
    ]
    assert programs.rows[0]["address"] == ""
    assert users.caption == "Users: 2 of 30" and clients.rows == []
    of_user = listing.others(Entity("user", "ann"), rows, EVERYWHERE, {})
    assert [table.key for table in of_user] == ["clients", "programs"]


@pytest.mark.parametrize(
    ("logs", "logins", "errors"),
    [([ALL_LOGS], 0, 0), ([SLOW_ONLY], None, None), ([SLOW_ONLY, ALL_LOGS], 0, 0)],
)
def test_a_count_that_no_log_contains_is_unknown_in_the_tables_beside(logs, logins, errors):
    counts = {"logins": 0, "refused": 2, "statements": 7, "errors": 0, "reads": 3, "changes": 0}
    row = {"dimension": "client", "value": "10.0.3.9", "value_count": 1, **counts}
    (of_user,) = listing.others(Entity("user", "ann"), [row], overview.Logs(logs), {})[0].rows
    known = (of_user["logins"], of_user["refused"], of_user["statements"], of_user["errors"])
    assert known == (logins, 2, 7, errors)
    _, of_table, _ = listing.others(Entity("table", "cards"), [row], overview.Logs(logs), {})
    assert (of_table.rows[0]["reads"], of_table.rows[0]["changes"], of_table.rows[0]["errors"]) == (
        3,
        0,
        errors,
    )


def test_patterns_of_a_class_name_who_confirmed_them():
    classes = {
        "pci": [
            ClassPattern("*.cards", False, "2026-05-04", "Ann Keller"),
            ClassPattern("shop.orders.card_*", False, "", ""),
            ClassPattern("*.cards_test", True, "", ""),
        ]
    }
    table = listing.patterns("pci", classes)
    assert [tuple(row.values()) for row in table.rows] == [
        ("pci", "*.cards", "whole tables", "yes", "2026-05-04", "Ann Keller"),
        ("pci", "shop.orders.card_*", "columns", "yes", None, "nobody named"),
        ("pci", "*.cards_test", "whole tables", "no, excluded", None, "nobody named"),
    ]
    assert {column.key for column in table.columns} == {*table.rows[0]}
    assert listing.patterns("pii", classes) is None
    for databases, shown in (([], 2), (["hr"], 2), (["hr", "SHOP"], 3)):
        limited = listing.patterns("pci", classes, databases)
        assert (len(limited.rows), limited.total) == (shown, shown), "the number says nothing about others"
    hidden = listing.patterns("pii", {"pii": [ClassPattern("hr.*", False, "", "")]}, ["shop"])
    assert hidden.rows == []
    saved = listing.patterns_to_save
    assert saved(hidden, True) is saved(None, True) is None, "a hidden class is as one that does not exist"
    assert saved(hidden, False) is hidden and saved(limited, True) is limited


def test_the_sessions_of_a_connection_end_before_the_next_login():
    its = Entity(kinds.SESSION, "", cluster="shop", instance="db1", connection=7)
    logins = [{"began": BEGIN + timedelta(hours=hour, microseconds=5)} for hour in (9, 4)]
    late, early = listing.sessions(its, logins, DAY.until).rows
    assert late["address"].endswith("?from=2026-11-24T09%3A00%3A00Z&to=2026-11-25T00%3A00%3A00Z")
    assert early["address"].endswith("?from=2026-11-24T04%3A00%3A00Z&to=2026-11-24T09%3A00%3A00Z")


class Recording:
    """A store that has one answer and remembers what it was asked."""

    def __init__(self, **answers: list[dict]) -> None:
        self.answers, self.asked = answers, []

    def rows(self, query: str, **parameters):
        name = next((name for name in self.answers if name in query), "")
        self.asked.append((query, parameters))
        return self.answers.get(name, [])


def test_a_long_range_limits_the_side_tables_but_not_those_of_classes():
    quarter = TimeRange(BEGIN - timedelta(days=90), BEGIN)
    assert Reading(Recording(), Entity("user", "ann"), quarter).sides_since == BEGIN - timedelta(days=7)
    assert Reading(Recording(), Entity("class", "pci"), quarter).sides_since == quarter.since


def test_the_previous_period_is_not_read_if_the_logs_begin_later():
    store = Recording(has_audit=[{**ALL_LOGS, "earliest": BEGIN - timedelta(hours=1)}])
    _ = Reading(store, Entity("user", "ann"), DAY).timeline
    assert store.asked[-1][1]["from"] == store.asked[-1][1]["begin"] == "2026-11-24 00:00:00.000000"


def test_a_file_that_cannot_be_read_is_unknown_and_not_a_class_without_patterns(tmp_path):
    file = tmp_path / "data-classes.yaml"
    assert listing.patterns_of("pci", file) == (None, "data-classes.yaml: No such file or directory")
    file.write_text("classes: [a]")
    table, reason = listing.patterns_of("pci", file)
    assert table is None and reason.startswith("data-classes.yaml: expected data classes")
    file.write_text("classes: {}")
    assert listing.patterns_of("pci", file) == (None, "")
