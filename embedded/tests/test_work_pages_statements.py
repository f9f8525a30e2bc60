"""Tests the page of a statement without Superset: plans, advice, comparisons, charts, tables."""

import hashlib
from datetime import UTC, datetime, timedelta

import jinja2
import pytest

from tailrace.reading import plan_trees
from tailrace_pages import dashboard_links, formats
from tailrace_pages.page_errors import UnavailableError
from tailrace_pages.statements import deadlocks, plans, tables, trend
from tailrace_pages.statements.periods import Logging, Periods, by_kind
from tailrace_pages.statements.reading import Statement
from tailrace_pages.time_range import TimeRange

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)

BEFORE = "query block\n  sort, filesort\n    c: ref by by_city, 7 rows\n    o: ref by by_customer, 9 rows"
AFTER = (
    "query block\n  sort, filesort\n    c: ALL, 51,000 rows, join buffer\n    o: ref by by_customer, 8 rows"
)


def test_the_difference_of_plans_ignores_estimated_rows():
    found = plan_trees.difference(BEFORE, AFTER)
    assert [(step.depth, step.text, step.change) for step in found] == [
        (0, "query block", "same"),
        (1, "sort, filesort", "same"),
        (2, "c: ref by by_city, 7 rows", "removed"),
        (2, "c: ALL, 51,000 rows, join buffer", "added"),
        (2, "o: ref by by_customer, 8 rows", "same"),
    ]


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("c: ALL, 51,000 rows, join buffer", "reads all rows (51,000), joins without an index"),
        ("c: ALL, 999 rows", ""),
        ("c: index by by_city, 1,000 rows, index only", "reads a whole index (1,000)"),
        ("ALL: ref by x, 5,000 rows", ""),
        ("sort, filesort", "sorts rows"),
        ("aggregate, temporary table", "fills a temporary table"),
        ("query block, dependent", "runs once per row of the enclosing query"),
    ],
)
def test_expensive_steps_name_their_reason(text, cost):
    (step,) = plan_trees.steps("  " + text)
    assert (step.cost, step.depth, step.is_expensive) == (cost, 1, bool(cost))


def test_one_row_of_a_step_is_singular():
    found = plan_trees.difference("products: const by PRIMARY, 1 rows", "products: ref by x, 11 rows")
    assert [step.text for step in found] == [
        "products: const by PRIMARY, 1 row",
        "products: ref by x, 11 rows",
    ]
    (step,) = plan_trees.difference("a: const, 1 rows", "a: const, 9 rows")
    assert step.change == "same", "the number of rows is no change"


def plan(plan_hash: str, outline: str = "query block", **columns) -> dict:
    its = {"server": "db1", "model": "{}", "default_database": "shop", "advice": [], "cost": None}
    return {**its, "plan_hash": plan_hash, "outline": outline, **columns}


def test_the_current_plan_is_compared_with_the_one_that_it_replaced():
    rows = [plan("B", AFTER), plan("C"), plan("A", BEFORE), plan("B", server="db2")]
    current, *others = plans.trees(rows, [{"old_plan": "A", "new_plan": "B"}])
    assert (current.plan_hash, current.compared_with, current.servers) == ("B", "A", ["db1", "db2"])
    assert current.has_changes and [tree.plan_hash for tree in others] == ["C", "A"]
    assert plans.trees(rows, [])[0].compared_with == "C"
    assert plans.trees([plan("B")], [])[0].compared_with == ""
    assert plans.trees([], []) == []


def test_a_plan_without_an_access_states_the_message_of_the_server():
    """All such plans have one hash, that of an empty text, because constant tables are not part of it."""
    said = (
        '{"plan": {"operation": "query block", "inputs": [{"operation": "constant rows", "detail": "%s"}]}}'
    )
    block = '{"plan": {"operation": "query block", "detail": "no matching row in const table"}}'
    read = (
        '{"plan": {"operation": "query block", "inputs": [{"operation": "table", "detail": "no message"}]}}'
    )
    rows = [
        plan(plans.EMPTY_SHAPE, model=said % "Impossible WHERE"),
        plan(plans.EMPTY_SHAPE, model=block, server="db2"),
        plan("B", model=said % "of another plan"),
    ]
    assert plans.constant(rows) == {
        plans.EMPTY_SHAPE: "Impossible WHERE, no matching row in const table",
    }
    assert plans.constant([plan(plans.EMPTY_SHAPE, model=read)]) == {plans.EMPTY_SHAPE: ""}
    assert plans.constant([plan("B")]) == {}
    assert hashlib.md5(b"").hexdigest()[:16].upper() == plans.EMPTY_SHAPE


SPAN = TimeRange(NOON - HOUR, NOON)
LOGGED = {"server": "db1", "logged": "≥ 0 s", "changes": [], "is_read": 1}


def overview(name: str, executions: float, p95: float) -> dict:
    numbers = dict.fromkeys(("total_seconds", "p50", "p99", "lock_seconds", "examined", "sent"), p95 * 2)
    kind = "yesterday" if name == "yesterday" else "period"
    return {"kind": kind, "name": name, "executions": executions, "p95": p95, **numbers}


def notes(logging: Logging, *rows: dict, span: TimeRange = SPAN) -> dict[str, tuple[str, str]]:
    shown = Periods(span, by_kind(rows)["period"], logging).numbers()
    return {item["title"]: (item["value"], item["note"]) for item in shown}


def test_changes_are_against_both_earlier_periods():
    rows = overview("now", 30, 0.3), overview("before", 20, 0.2), overview("yesterday", 30, 0.4)
    found = notes(Logging(["db1"], [LOGGED]), *rows)
    assert found["Executions"] == ("30", "+50 % vs before · unchanged vs a day before")
    assert found["Latency p95"] == ("300 ms", "+50 % vs before · -25 % vs a day before")
    assert found["Rows examined per execution"][0] == "0.02"
    day = TimeRange(NOON - 24 * HOUR, NOON)
    assert notes(Logging(["db1"], [LOGGED]), *rows[:2], span=day)["Executions"] == ("30", "+50 % vs before")
    midnight = NOON - 12 * HOUR
    date = TimeRange(midnight - 24 * HOUR, midnight)
    shown = f"{midnight - 48 * HOUR:%-d %b}"
    assert notes(Logging(["db1"], [LOGGED]), *rows[:2], span=date)["Executions"][1] == f"+50 % vs {shown}"
    assert notes(Logging(["db1"], [LOGGED]), rows[0], span=date)["Executions"][1] == f"none on {shown}"


def test_a_period_without_executions_is_new_if_the_log_was_read_and_else_unknown():
    read, unread = Logging(["db1"], [LOGGED]), Logging(["db1"], [{**LOGGED, "is_read": 0}])
    now = overview("now", 30, 0.3)
    assert notes(read, now)["Executions"][1] == "none before · none a day before"
    assert notes(read, now)["Latency p95"][1] == ""
    assert notes(unread, now)["Executions"][1] == ""
    assert "unknown" in Periods(SPAN, {}, unread).obstacles()[0]
    assert Periods(SPAN, {}, read).obstacles() == []
    assert "no census" in Periods(SPAN, {}, read, watched=False).obstacles()[0]


def test_latencies_are_not_compared_across_a_change_of_the_settings():
    logging = Logging(["db1"], [{**LOGGED, "changes": [NOON - 5 * HOUR]}])
    rows = overview("now", 30, 0.3), overview("before", 20, 0.2), overview("yesterday", 30, 0.4)
    assert notes(logging, *rows)["Latency p95"][1] == "+50 % vs before · not comparable vs a day before"
    recent = Logging(["db1"], [{**LOGGED, "changes": [NOON - HOUR / 2]}])
    assert (
        notes(recent, *rows)["Latency p95"][1] == "not comparable vs before · not comparable vs a day before"
    )
    assert notes(recent, *rows)["Executions"][1].startswith("+50 %")
    assert "db1 logs differently since" in Periods(SPAN, {}, recent).obstacles()[0]


@pytest.mark.parametrize(
    ("known", "of_all", "shown"),
    [
        (3, 3, "all 3"),
        (10, 10, "all 10"),
        (37, 37, "the latest 10 of 37"),
        (50, 1200, "the latest 10 of 1,200"),
        (200, 0, "the latest 10 of at least 200"),
    ],
)
def test_a_table_says_of_how_many_rows_it_shows_the_first(known, of_all, shown):
    assert tables.part(10, known, of_all, "latest") == shown


@pytest.mark.parametrize(
    ("known", "of_all", "shown"),
    [(14, 14, "all 14"), (50, 1200, "the first 50 of 1,200"), (200, 0, "the first 200 of at least 200")],
)
def test_a_table_with_all_rows_that_are_known_says_if_there_are_more(known, of_all, shown):
    assert tables.part(known, known, of_all, "first") == shown


def test_the_limits_of_the_data_count_servers():
    rows = [LOGGED, {**LOGGED, "server": "db2"}, {**LOGGED, "server": "db3", "logged": "≥ 1 s"}]
    assert Logging(["db1", "db2", "db3", "db4"], rows).limits() == (
        "Slow logs contain: ≥ 0 s on 2 of 4 servers; ≥ 1 s on 1 of 4 servers; unknown on 1 of 4 servers"
    )
    assert Logging([], []).limits() == ""


@pytest.mark.parametrize(
    ("hours", "width"), [(0.25, 60), (1, 60), (24, 900), (48, 1800), (49, 3600), (168, 7200)]
)
def test_buckets_have_a_width_for_at_most_100_of_them(hours, width):
    assert trend.width(TimeRange(NOON - hours * HOUR, NOON)) == width
    assert trend.width(TimeRange(NOON - 90 * 24 * HOUR, NOON)) == 86_400
    assert trend.width(TimeRange(NOON - 1000 * 24 * HOUR, NOON)) == 10 * 86_400


def bucket(executions: float, classes: dict[int, float]) -> dict:
    numbers = dict.fromkeys(("p50", "p95", "lock_seconds", "examined"), 1)
    lists = {"latency_classes": list(classes), "latency_executions": list(classes.values())}
    return {"executions": executions, "total_seconds": 30, **numbers, **lists}


def always(start: int, end: int) -> bool:
    return True


def test_bars_with_executions_are_too_low_if_a_log_was_not_read():
    span = TimeRange(NOON - timedelta(minutes=3), NOON)
    begin = int(span.since.timestamp())
    entries = {str(begin): bucket(4, {0: 4}), str(begin + 60): bucket(2, {0: 2})}
    shown = trend.buckets(span, entries, lambda start, end: start == begin)
    assert [row["executions"] for row in shown] == [4, 2, None]
    assert trend.obstacles(shown) == [
        "1 bar of the load may be too low: the slow log of a server was not read in all of that time."
    ]
    assert trend.obstacles(shown[:1]) == []


def test_a_bucket_without_entries_has_no_load_and_an_unknown_latency():
    span = TimeRange(NOON - timedelta(minutes=2, seconds=30), NOON)
    start = str(int((NOON - timedelta(minutes=3)).timestamp()))
    first, *others = trend.buckets(span, {start: bucket(4, {-3: 3, 0: 1})}, always)
    assert (first["load"], first["p95"]) == (1, 1), "30 s of execution in the 30 s of the bucket in the range"
    assert [(row["load"], row["p95"]) for row in others] == [(0, None), (0, None)]
    heat = trend.heat_map([first, *others])
    assert [(cell["x"], cell["y"]) for cell in heat.cells] == [(90, 42), (90, 0)]
    assert [label["text"] for label in heat.labels] == ["≥ 1 s", "≥ 500 ms", "≥ 250 ms", "≥ 125 ms"]
    assert heat.cells[0]["opacity"] == 1 > heat.cells[1]["opacity"] > trend.FAINTEST
    assert [label["text"] for label in heat.times] == ["11:57", "12:00"][:1]
    assert heat.columns * (heat.cell_width + 1) + trend.LABEL_WIDTH == pytest.approx(heat.width, abs=1)
    assert trend.heat_map(others) is None


def test_a_bucket_in_which_no_log_was_read_is_unknown_and_not_zero():
    span = TimeRange(NOON - timedelta(minutes=3), NOON)
    begin = int(span.since.timestamp())
    rows = {str(begin): bucket(4, {-3: 4})}
    shown = trend.buckets(span, rows, lambda start, end: (start, end) == (begin + 120, begin + 180))
    assert [row["executions"] for row in shown] == [4, None, 0]
    load = trend.load_chart(shown, [])
    assert (load["series"][0]["values"], load["width"]) == ([0.5, None, 0], 60)
    assert [row["executions"] for row in trend.known(shown)] == [4, 0]


def test_marks_are_plan_changes_and_versions_that_follow_others():
    versions = [
        {"application": "web", "version": "1", "first_seen": NOON - 3 * HOUR},
        {"application": "job", "version": "7", "first_seen": NOON - 2 * HOUR},
        {"application": "web", "version": "2", "first_seen": NOON - HOUR},
    ]
    changes = [{"changed": NOON - 2 * HOUR, "new_plan": "ABCDEF0123456789"}]
    ddl = [{"at": NOON - 2.5 * HOUR, "verb": "ALTER", "tables": ["t"], "text": "alter table t drop key by_a"}]
    labels = [mark["label"] for mark in trend.marks(changes, versions, ddl)]
    assert labels == ["index by_a dropped", "plan ABCD", "web 2"]


def too_slow(query: str, **parameters):
    raise UnavailableError("The query took too long.")


def one_version(query: str, **parameters):
    return [{"application": "web", "version": "1", "first_seen": NOON, "ran_it": 1}]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (too_slow, "unknown, because they could not be read now. The charts mark no deploys."),
        (one_version, "<span>web 1</span>"),
        (lambda query, **_: [], ""),
    ],
)
def test_versions_that_cannot_be_read_are_unknown_and_the_page_is_shown(rows, said):
    its = Statement(rows, {"id": 1, "others": []}, SPAN, {})
    assert trend.marks([], its.versions) == []
    environment = jinja2.Environment(loader=jinja2.PackageLoader("tailrace_pages"), autoescape=True)
    template = environment.get_template("tailrace_pages/queries/versions.html")
    shown = template.render(versions=trend.versions(its.versions), formats=formats)
    assert said in shown and bool(said) == bool(shown.strip())


def test_tables_have_sizes_of_their_database_and_unknown_ones():
    size = {"server": "db1", "table_name": "Orders", "measured": NOON, "bytes": 9}
    sizes = [
        {**size, "schema_name": "shop", "estimated_rows": 5},
        {**size, "schema_name": "old", "estimated_rows": 1},
    ]
    found = tables.tables(["shop.orders", "log"], ["log"], sizes, lambda kind, name: f"{kind}/{name}")
    assert [(row["name"], row["access"], row["estimated_rows"]) for row in found] == [
        ("log", "reads, writes", None),
        ("shop.orders", "reads", 5),
    ]
    assert found[1]["address"] == "table/shop.orders"


@pytest.mark.parametrize(
    ("entries", "names"), [({"reads": ["Orders_2026"], "writes": []}, ["Orders_2026"]), (None, ["orders_?"])]
)
def test_tables_have_the_names_of_the_entries_if_there_are_any(entries, names):
    """A fingerprint has names in lower case and without numbers: no page of a table has such a name."""
    its = {"id": 1, "others": [], "reads": ["orders_?"], "writes": []}
    statement = Statement(lambda query, **_: [entries or {"reads": [], "writes": []}], its, SPAN, {})

    assert statement.tables["reads"] == names


def test_a_table_without_a_size_has_the_rows_that_a_plan_read():
    model = '{"plan": {"inputs": [{"table": "Log", "access_type": "ALL", "examined_rows": 412240}]}}'
    scan = plan("ABCDEF0123456789", model=model, last_seen=NOON)
    (log,) = tables.tables(["shop.`log`"], [], [], lambda kind, name: "", [plan("B"), scan])
    shown = {name: log[name] for name in ("server", "estimated_rows", "bytes", "measured", "known_by")}
    assert shown == {
        "server": "db1",
        "estimated_rows": 412240,
        "bytes": None,
        "measured": NOON,
        "known_by": "plan ABCDEF01",
    }


def test_a_deadlock_names_both_users_and_the_application_of_the_client():
    row = {"first_user": "warehouse", "first_client": "10.0.0.3", "second_user": "app", "second_client": ""}
    row |= {"rolled_back": "1", "is_first": 0, "other_id": 7, "other_text": "update stock"}
    callers = [{"user": "app", "client": "", "application": each} for each in ("web", "", "job")]
    (shown,) = deadlocks.table(
        [row], callers, lambda kind, name: f"{kind}:{name}", lambda id_: f"query/{id_}"
    )
    assert (shown["user"], shown["application"], shown["outcome"]) == (
        "app",
        "(no tag), job, web",
        "the other one",
    )
    assert (shown["other_user_address"], shown["client_address"]) == ("user:warehouse", "")
    assert (shown["other"], shown["other_address"]) == ("update stock", "query/7")
    (unknown,) = deadlocks.table([{**row, "rolled_back": "", "is_first": 1}], [], lambda *_: "", lambda _: "")
    assert (unknown["application"], unknown["outcome"]) == ("unknown", "unknown")


@pytest.mark.parametrize(("known", "executions"), [((6, 6), 0), ((4, 6), None), (None, None)])
def test_a_plan_without_executions_has_none_only_if_all_plans_are_known(known, executions):
    load = [{"server": "db1", "plan_hash": "A", "executions": 4, "p50": 1, "p95": 2}]
    first, second = tables.plans([plan("A"), plan("B")], load, known)
    assert (first["executions"], first["p95"]) == (4, 2)
    assert (second["executions"], second["p95"]) == (executions, None)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {
                "verdict": "slower",
                "ratio": 20.1932,
                "reason": "",
                "executions_before": 1999,
                "executions_after": 20,
            },
            "slower: 20.2 times as long (1,999 executions before, 20 after)",
        ),
        ({"verdict": "no_difference", "ratio": 1.0, "reason": ""}, "no difference"),
        ({"verdict": "unknown", "ratio": None, "reason": "3 executions"}, "unknown: 3 executions"),
    ],
)
def test_the_verdict_of_a_plan_change_is_in_words(change, words):
    assert tables.effect(change) == words


def test_a_link_to_a_dashboard_has_the_range_and_the_filter():
    of_trace = dashboard_links.address(
        "traces", SPAN, {"trace-id": ("trace_id", "a")}, "TAB-traces-one-trace"
    )
    assert of_trace.endswith("#TAB-traces-one-trace")
    address = dashboard_links.address("query-detail", SPAN, {"query-id": ("query_id", "it's")})
    assert address.startswith("/superset/dashboard/query-detail/?native_filters=%28NATIVE_FILTER-time-range")
    assert "2026-03-04T11%3A00%3A00%20%3A%202026-03-04T12%3A00%3A00" in address
    assert "col%3Aquery_id%2Cop%3AIN%2Cval%3A%21%28%27it%21%27s%27%29" in address
