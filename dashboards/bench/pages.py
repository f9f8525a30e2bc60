"""`make bench-pages`: the queries of work pages over 10 million events of 90 days, without Superset.

Every page is read with its own code, as an account of its audience, for a day and for 90 days. The table has
the CPU time of ClickHouse, the least of several readings, and the rows that were read. `--verbose` adds each
query. `--opened` opens the pages in a browser instead and measures elapsed times (opened_pages.py).
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from dashboards.bench import opened_pages
from dashboards.bench.fill import DAYS, fill
from e2e.stack import Stack
from tailrace.clickhouse.client import ClickHouse
from tailrace.clickhouse.query_files import QUERIES
from tailrace_local import clickhouse as local_clickhouse
from tailrace_pages import queries
from tailrace_pages.alerts import filters
from tailrace_pages.alerts import listing as alert_listing
from tailrace_pages.entities import kinds, reading
from tailrace_pages.statements import listing as statement_listing
from tailrace_pages.statements.reading import Statement
from tailrace_pages.time_range import TimeRange

FIRST_PORT = int(os.environ.get("BROWSER_FIRST_PORT", "21280"))
EVERYWHERE = {"cluster": "", "instance": ""}
ENTITIES = (
    ("user", "web"),
    ("user", "ann"),
    ("client", "app-3"),
    ("client", "10.1.3.3"),
    ("table", "crm.t5"),
    ("class", "pii"),
)
"""Of dashboards/bench/rows/parts.sql."""


@dataclass(frozen=True)
class Cost:
    """The cost of one query."""

    query: str
    cpu_ms: float
    rows: int


class MeasuredStore:
    """The rows of ClickHouse with the types of tailrace_pages.store.Store, and what each query cost."""

    def __init__(self, reader: ClickHouse, admin: ClickHouse, names: dict[str, str]) -> None:
        self._reader, self._admin, self._names = reader, admin, names
        self.costs: list[Cost] = []

    def rows(self, query: str, **parameters: Any) -> list[dict[str, Any]]:
        given = {name: _literal(value) for name, value in parameters.items()}
        text = f"{queries.text_of(query)}\nFORMAT JSON"
        before = _cpu_ms(self._admin)
        answer = json.loads(self._reader.execute(text, given, output_format_json_quote_64bit_integers=0))
        name = self._names.get(query, query)
        spent = _cpu_ms(self._admin) - before
        self.costs.append(Cost(name, spent, answer["statistics"]["rows_read"]))
        times = [each["name"] for each in answer["meta"] if "DateTime" in each["type"]]
        return [{**row, **{name: _time(row[name]) for name in times}} for row in answer["data"]]


def _literal(value: object) -> object:
    return f"[{', '.join(repr(each) for each in value)}]" if isinstance(value, list) else value


def _time(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, list):
        return [_time(each) for each in value]
    return datetime.fromisoformat(value).replace(tzinfo=UTC)


def _cpu_ms(admin: ClickHouse) -> float:
    """Returns the CPU time of all queries and merges so far."""
    counted = "SELECT value FROM system.events WHERE event = 'OSCPUVirtualTimeMicroseconds'"
    return float(admin.rows(counted)[0]["value"]) / 1000


def main() -> int:
    arguments = _arguments()
    home = arguments.home or Path(mkdtemp(prefix="tailrace-bench-")) / "home"
    components = ("clickhouse", "superset") if arguments.opened else ("clickhouse",)
    stack = Stack(home, FIRST_PORT, components, few_rows=False)
    stack.up()
    try:
        admin = stack.clickhouse()
        if not admin.rows("SELECT 1 FROM tailrace.query_events LIMIT 1"):
            fill(admin, arguments.events, datetime.now(UTC), lambda doing: print(doing, file=sys.stderr))
        if arguments.opened:
            return _opened(stack, admin, arguments)
        reader = local_clickhouse.connect(stack.settings, stack.home, "reader_security")
        for days in (1, DAYS):
            _report(reader, admin, days, arguments)
        _print_load()
        return 0
    finally:
        if not arguments.home:
            stack.down()


def _opened(stack: Stack, admin: ClickHouse, arguments: argparse.Namespace) -> int:
    pages = list(opened_pages.addresses(list(_statements(admin).values()), ENTITIES))
    chosen = [page for page in pages if arguments.only in page[0]]
    missed = opened_pages.report(opened_pages.measure(stack, chosen, arguments.repeat))
    _print_load()
    return missed


def _print_load() -> None:
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-pages", description=__doc__)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=3, help="how often each page is read")
    parser.add_argument("--only", default="", help="pages whose title contains this text")
    parser.add_argument("--verbose", action="store_true", help="each query")
    parser.add_argument("--opened", action="store_true", help="elapsed times in a browser")
    parser.add_argument("--home", type=Path, help="keeps ClickHouse and its data there, and uses them again")
    return parser.parse_args()


def _report(reader: ClickHouse, admin: ClickHouse, days: int, arguments: argparse.Namespace) -> None:
    latest = admin.rows("SELECT toString(max(event_time)) AS at FROM tailrace.query_events")[0]["at"]
    until = datetime.fromisoformat(latest).replace(tzinfo=UTC, microsecond=0) + timedelta(minutes=1)
    span = TimeRange(until - timedelta(days=days), until)
    print(f"\n{days} days\n CPU ms    rows read  page")
    for title, read in _pages(admin, span):
        if arguments.only in title:
            _print(title, _least(reader, admin, read, arguments.repeat), arguments.verbose)


def _least(
    reader: ClickHouse, admin: ClickHouse, read: Callable[[MeasuredStore], object], repeat: int
) -> list[Cost]:
    """Returns the cost of each query of a page, each the least of several readings."""
    runs = []
    for _ in range(repeat):
        store = MeasuredStore(reader, admin, _names())
        read(store)
        runs.append(store.costs)
    return [min(costs, key=lambda cost: cost.cpu_ms) for costs in zip(*runs, strict=True)]


def _print(title: str, costs: list[Cost], verbose: bool) -> None:
    print(
        f"{sum(cost.cpu_ms for cost in costs):7.0f}{sum(cost.rows for cost in costs):13,}  {title}",
        flush=True,
    )
    for cost in costs if verbose else []:
        print(f"{cost.cpu_ms:7.0f}{cost.rows:13,}      {cost.query}", flush=True)


def _names() -> dict[str, str]:
    """Returns the names of the queries that are rendered for each kind of entity, by their text."""
    files = [file.stem for file in QUERIES.glob("page_entity_*.sql")]
    variants = product((*kinds.KINDS, kinds.SESSION), (False, True), (False, True))
    return {reading.text(name, *variant): name for variant in variants for name in files}


def _pages(admin: ClickHouse, span: TimeRange) -> Iterator[tuple[str, Callable[[MeasuredStore], object]]]:
    """Returns each page by its title."""
    yield "alert inbox", lambda store: _inbox(store, span)
    yield "queries", lambda store: _queries(store, span)
    for name, number in _statements(admin).items():
        yield f"statement, {name}", lambda store, number=number: _statement(store, number, span)
    for kind, name in ENTITIES:
        about = kinds.Entity(kind, name)
        yield f"{kind} {name}", lambda store, about=about: _entity(reading.Reading(store, about, span))
    yield "search of users and clients", lambda store: _search(store, span)


def _statements(admin: ClickHouse) -> dict[str, int]:
    """Returns the ids of two statements, by what distinguishes them."""
    heaviest = "SELECT query_id FROM tailrace.query_classes_1h GROUP BY query_id ORDER BY sum(count) DESC"
    ids = [int(row["query_id"]) for row in admin.rows(heaviest)]
    return {"most executed": ids[0], "median": ids[len(ids) // 2]}


def _inbox(store: Any, span: TimeRange) -> None:
    found = alert_listing.overview(store, filters.parse({}), span, "security", 51)
    alert_listing.rows_of(store, found.ids("", 1, 50))


def _queries(store: Any, span: TimeRange) -> None:
    statement_listing.heaviest(store.rows, span, EVERYWHERE)
    statement_listing.obstacles(store.rows, span, EVERYWHERE)


def _statement(store: Any, number: int, span: TimeRange) -> None:
    row = store.rows("page_query_statement", query_id=number)[0]
    its = Statement(store.rows, row, span, EVERYWHERE)
    its.read_all(lambda read: read)  # one part after the other


def _entity(of: reading.Reading) -> None:
    for part in ("logs", "read", "timeline", "alerts", "others", "classes"):
        getattr(of, part)
    of.shown(of.page("", None)[0], {})


def _search(store: Any, span: TimeRange) -> None:
    since = max(span.since, span.until - timedelta(days=reading.SIDE_DAYS))
    given = {**EVERYWHERE, **span.parameters(), "text": "", "classes_from": f"{since:%Y-%m-%d %H:%M:%S}"}
    store.rows("page_entity_search", **given)


if __name__ == "__main__":
    sys.exit(main())
