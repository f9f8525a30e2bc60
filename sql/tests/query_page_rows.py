"""Rows for the tests of sql/queries/page_query_*.sql: statements with known results; and how a test asks."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tailrace.clickhouse import query_files
from tailrace_pages import queries

EXACT = ("overview", "latencies", "list")
"""Queries with a shorter text for short ranges (query_files.of_range), whose rows are compared."""
HOUR = timedelta(hours=1)
END = datetime.now(UTC).replace(hour=15, minute=0, second=0, microsecond=0) - timedelta(days=2)
"""Two days ago at a fixed hour: no result depends on the time of the test."""
START = END - 2 * HOUR
IT, OTHER, OLD = 0xFFFF_0000_0000_0001, 2, 3
TEXT = "select id from `orders` where id = ?"


def sql(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S}"


def execution(at: datetime, seconds: float, **columns) -> dict:
    its = {"cluster": "shop", "instance": "db1", "query_id": IT, "rule_set": "tailrace-2", "weight": 2}
    times = {"event_time": sql(at), "query_time": seconds, "lock_time": seconds / 4}
    return {**its, **times, "rows_examined": 10, "rows_sent": 1, "user": "app", "host": "10.0.0.9", **columns}


def fingerprint(query_id: int, text: str, **columns) -> dict:
    its = {"query_id": query_id, "rule_set": "tailrace-2", "fingerprint": text, "verb": "SELECT"}
    return {**its, "seen_at": sql(END), "first_seen_at": sql(START), **columns}


EVENTS = [
    execution(
        START + timedelta(minutes=1), 0.2, tags={"application": "web", "route": "/cart", "version": "1"}
    ),
    execution(
        START + timedelta(minutes=61), 0.4, tags={"application": "web", "route": "/cart", "version": "2"}
    ),
    execution(START + timedelta(minutes=62), 3.0, instance="db2", user="cron", host="batch-1"),
    execution(START - timedelta(minutes=10), 0.1),
    execution(START - timedelta(hours=23), 0.05, query_id=OLD),
    execution(
        START + timedelta(minutes=5), 8.0, query_id=OTHER, tables_read=["sbtest1"], tables_written=["Log"]
    ),
]
"""Of the statement: two on db1 and one on db2 in the range, one before it, one on the day before."""


def insert_statements(user) -> None:
    user("writer").insert("tailrace.query_events", EVENTS)
    user("writer").insert(
        "tailrace.fingerprints",
        [
            fingerprint(IT, TEXT, previous_query_ids=[OLD], tables_read=["shop.orders"]),
            fingerprint(OTHER, "select c? from sbtest?", tables_read=["sbtest?"], tables_written=["Log"]),
        ],
    )


def asking(user) -> Callable[..., list[dict]]:
    """Returns a function that returns the rows of a query for a range of two hours and all servers, as a
    developer; parameters can be replaced. The shorter text of a query must return the same rows."""

    def run(name: str, span=(START, END), **parameters) -> list[dict]:
        known = {
            "from": sql(span[0]),
            "to": sql(span[1]),
            "query_ids": [IT, OLD],
            "cluster": "",
            "instance": "",
            "clusters": [],
        }
        known |= {"width": 3600, "oldest": sql(span[0] - timedelta(days=1))}
        wanted = {**known, **parameters}
        query = f"page_query_{name}"
        found = rows(query, wanted)
        shorter = query_files.of_range(query, (span[1] - span[0]).total_seconds())
        assert name not in EXACT or rows(shorter, wanted) == found, f"`{shorter}` has other rows"
        return found

    def rows(query: str, wanted: dict) -> list[dict]:
        text = queries.text_of(query)
        given = {name: each for name, each in wanted.items() if f"{{{name}:" in text}
        return user("reader_developer").rows(text, given)

    return run
