"""Tests the queries of the dashboard "Traces" on traces with known results."""

from datetime import UTC, datetime, timedelta

import pytest

NOW = datetime.now(UTC).replace(microsecond=0)
SLOW = 0xFFFF_0000_0000_0001
LOOPED = 2
RANGE = ((NOW - timedelta(hours=1)).isoformat(), (NOW + timedelta(minutes=1)).isoformat())


def span(trace: int, number: int, **columns) -> dict:
    return {
        "Timestamp": f"{NOW - timedelta(minutes=5) + timedelta(seconds=number):%Y-%m-%d %H:%M:%S}.5",
        "TraceId": f"{trace:032x}",
        "SpanId": f"{trace:08x}{number:08x}",
        "ServiceName": "shop",
        "Duration": 250_000_000,
        **columns,
    }


def request(trace: int, endpoint: str) -> dict:
    kind = {"SpanKind": "Server", "endpoint": endpoint, "SpanName": endpoint}
    return span(trace, 0, Duration=9_000_000_000, **kind)


def call(trace: int, number: int, query_id: int) -> dict:
    said = {"rule_set": "tailrace-1", "fingerprint": f"select {query_id}", "database": "shop"}
    return span(trace, number, SpanKind="Client", query_id=query_id, **said)


def insert_calls(user) -> None:
    spans = [request(1, "GET /orders"), *(call(1, number, LOOPED) for number in range(1, 8))]
    spans += [request(2, "GET /cart"), call(2, 1, SLOW), call(2, 2, LOOPED), call(3, 1, LOOPED)]
    user("writer").insert("tailrace.otel_traces", spans)
    slow = {
        "instance": "db1",
        "event_time": f"{NOW - timedelta(minutes=5):%Y-%m-%d %H:%M:%S}",
        "query_time": 2,
    }
    traced = {
        "query_id": SLOW,
        "rule_set": "tailrace-1",
        "trace_id": f"{2:032x}",
        "span_id": f"{2:08x}{1:08x}",
    }
    alone = {**traced, "trace_id": f"{9:032x}", "tags": {"controller": "cart", "action": "show"}}
    user("writer").insert("tailrace.query_events", [{**slow, **traced}, {**slow, **alone}, slow])


FIRST_ROWS = {"ask": insert_calls}


@pytest.fixture
def ask(admin, user, rendered):
    """Returns the rows of a query for the role of developers."""

    def run(name: str, time_range: tuple[str | None, str | None] = RANGE, **filters: list[str]) -> list[dict]:
        return user("reader_developer").rows(rendered(name, *time_range, **filters))

    return run


def test_calls_are_of_the_endpoint_that_asked_first(ask):
    found = ask("trace_calls")

    assert sorted((row["endpoint"], row["query_id"]) for row in found) == [
        ("(unknown)", f"{LOOPED:016X}"),
        ("GET /cart", f"{LOOPED:016X}"),
        ("GET /cart", f"{SLOW:016X}"),
        *[("GET /orders", f"{LOOPED:016X}")] * 7,
    ]
    assert {row["seconds"] for row in found} == {0.25}


def test_a_loop_is_a_statement_that_one_request_ran_five_times(ask):
    (found,) = ask("trace_repeats")

    assert (found["endpoint"], found["service"]) == ("GET /orders", "shop")
    assert (found["repeats"], found["seconds"], found["trace_id"]) == (7, 1.75, f"{1:032x}")


def test_a_slow_query_names_the_request_whose_trace_it_is(ask):
    found = ask("trace_slow_queries")

    assert sorted((row["endpoint"], row["service"], row["spans"], row["seconds"]) for row in found) == [
        ("GET /cart", "shop", 3, 2),
        ("cart#show", "", 0, 2),
    ]


def test_spans_of_a_trace_are_all_that_it_did(ask):
    found = ask("trace_spans", trace_id=[f"{2:032x}"])
    found = [row for row in found if row["trace_id"] == f"{2:032x}"]  # Superset filters the rows

    assert [row["operation"] for row in sorted(found, key=lambda row: row["time"])] == [
        "GET /cart",
        f"select {SLOW}",
        f"select {LOOPED}",
    ]


def test_without_a_trace_the_one_with_the_longest_span_is_shown(ask):
    everything = ask("trace_spans", trace_id=["any"])
    longest = max(everything, key=lambda row: (row["seconds"], -int(row["trace_id"], 16)))

    assert {row["trace_id"] for row in ask("trace_spans")} == {longest["trace_id"]}
    assert len({row["trace_id"] for row in everything}) > 1
    assert {row["trace_id"] for row in ask("trace_spans", query_id=[f"{SLOW:016X}"])} == {f"{2:032x}"}


BEFORE = NOW - timedelta(hours=2)
"""The interval of an hour before the one that the tests of changes ask for ends an hour later."""
TIMES = "\N{MULTIPLICATION SIGN}"
COMPARED = ((NOW - timedelta(hours=1)).isoformat(), NOW.isoformat())


def requests_of(
    service: str, at: datetime, number: int, seconds: float, endpoint: str = "GET /slow"
) -> list[dict]:
    """Returns requests with one call each; the time within the hour does not matter."""
    found = []
    for trace in range(number):
        its = {
            "TraceId": f"{service}{at:%H%M}{trace:024x}",
            "Timestamp": f"{at:%Y-%m-%d %H:%M:%S}",
            "ServiceName": service,
        }
        root = {"SpanKind": "Server", "endpoint": endpoint, "SpanName": endpoint, "SpanId": "1" * 16}
        query = {"SpanKind": "Client", "query_id": 7, "fingerprint": "select 7", "SpanId": "2" * 16}
        found += [{**its, **root}, {**its, **query, "Duration": int(seconds * 1e9)}]
    return found


@pytest.fixture
def compared(ask, stored):
    """Returns the row of a service whose requests are stored."""

    def run(service: str, /, *spans: list[dict], **filters: list[str]) -> dict:
        stored("otel_traces", *(span for each in spans for span in each))
        (row,) = (row for row in ask("trace_endpoints", COMPARED, **filters) if row["service"] == service)
        return row

    return run


def test_an_endpoint_is_compared_with_the_interval_before(compared):
    before = requests_of("a", BEFORE + timedelta(minutes=2), 20, 0.1)
    now = requests_of("a", NOW - timedelta(minutes=30), 30, 0.15)
    row = compared("a", before, now)

    assert (row["requests"], row["calls"], row["queries_each"], row["p95"]) == (30, 30, 1, 0.15)
    assert row["database_seconds"] == pytest.approx(4.5)
    changes = {name: row[f"{name}_change"] for name in ("p95", "calls", "database")}
    assert changes == {"p95": "+50 %", "calls": "+50 %", "database": "+125 %"}


def test_without_spans_before_a_change_is_unknown(compared):
    row = compared("b", requests_of("b", NOW - timedelta(minutes=30), 20, 0.1))
    assert {row[f"{name}_change"] for name in ("p95", "calls", "database")} == {"no data before"}


def test_spans_that_began_within_the_interval_before_give_no_sums(compared):
    late = requests_of("c", BEFORE + timedelta(minutes=40), 20, 0.1)
    row = compared("c", late, requests_of("c", NOW - timedelta(minutes=30), 20, 0.02))
    assert (row["p95_change"], row["calls_change"], row["database_change"]) == (
        "-80 %",
        "incomplete before",
        "incomplete before",
    )


def test_a_service_that_sends_rarely_is_compared(compared):
    earlier = requests_of("d", BEFORE - timedelta(minutes=20), 1, 0.1)
    late = requests_of("d", BEFORE + timedelta(minutes=40), 2, 0.1)
    row = compared("d", earlier, late, requests_of("d", NOW - timedelta(minutes=30), 20, 2))
    assert (row["p95_change"], row["calls_change"], row["database_change"]) == (
        "few requests",
        f"10{TIMES}",
        f"200{TIMES}",
    )


def test_a_new_endpoint_of_a_known_service_is_new(compared):
    other = requests_of("e", BEFORE + timedelta(minutes=2), 2, 0.1, "GET /other")
    row = compared("e", other, requests_of("e", NOW - timedelta(minutes=30), 20, 2))
    assert {row[f"{name}_change"] for name in ("p95", "calls", "database")} == {"new"}
    assert row["endpoint"] == "GET /slow", "an endpoint without requests in the range has no row"


def test_filters_restrict_both_intervals(compared):
    before = requests_of("f", BEFORE + timedelta(minutes=2), 20, 0.1)
    row = compared("f", before, requests_of("f", NOW - timedelta(minutes=30), 20, 0.1), service=["f"])
    assert (row["share"], row["database_change"]) == (1, "unchanged")


@pytest.mark.parametrize(
    "query", ["trace_calls", "trace_endpoints", "trace_repeats", "trace_slow_queries", "trace_spans"]
)
def test_without_a_time_range_it_is_the_last_day(ask, query):
    assert ask(query, (None, None)) == ask(query)


def test_calls_of_a_statement_have_what_the_server_logged(ask):
    (found,) = ask("query_calls", query_id=[f"{SLOW:016X}"])

    assert (found["endpoint"], found["service"], found["instance"]) == ("GET /cart", "shop", "db1")
    assert (found["seconds"], found["server_seconds"]) == (0.25, 2)


def test_calls_of_a_statement_that_no_log_has(ask):
    found = ask("query_calls", query_id=[f"{LOOPED:016X}"])

    assert len(found) == 9
    assert {row["server_seconds"] for row in found} == {None}


def test_slow_queries_lead_to_their_trace_where_it_has_come(ask):
    links = {row["endpoint"]: row["its_trace"] for row in ask("trace_slow_queries")}

    assert f"{2:032x}" in links["GET /cart"]
    assert links["cart#show"] == ""
