"""The columns of the tables of the page Setup and of their CSV files, and their rows."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tailrace.plural import counted
from tailrace_capture.product import MARIADB, MYSQL, PERCONA
from tailrace_pages import formats
from tailrace_pages.columns import Column
from tailrace_pages.setup.rules import Group
from tailrace_pages.setup.servers import BEHIND, NEVER, SILENT, SYMBOLS, TITLES, Server, Source

PAGE_SIZE = 200
"""Servers of a page of the table. An installation may have ten thousand."""
MONTH_SECONDS = 30 * 86_400
MIN_KNOWN_SECONDS = 3600
"""The costs of a shorter time say nothing about a month."""
PRODUCTS = {MARIADB: "MariaDB", MYSQL: "MySQL", PERCONA: "Percona Server"}
SERVERS = (
    Column("instance", "Instance", 20, link="address"),
    Column("product", "Product", 0),
    *(Column(kind, title, 14) for kind, title in TITLES.items()),
    Column("problems", "Problems", 10, "count"),
)
RULES = Column("rules", "Rules that can fire", 16, note="Active rules that can raise alerts on this server")
"""An additional column for audiences that may read the coverage of rules."""
CSV_SOURCES = (
    Column("instance", "Instance"),
    Column("cluster", "Cluster"),
    Column("source", "Source"),
    Column("state", "State"),
    Column("read_at", "Last line read (UTC)", 20, "time"),
    Column("last_event", "Last event (UTC)", 20, "time"),
    Column("lag_seconds", "Delay until read (s)", 8, "number"),
    Column("severity", "Severity of the problem"),
    Column("problem", "Problem"),
    Column("fix", "To change"),
)
SOURCES = (
    Column("source", "Source", 0),
    Column("state", "State", 24),
    Column("read_at", "Last line read (UTC)", 28, "time"),
    Column(
        "last_event",
        "Last event (UTC)",
        28,
        "time",
        note="The last one of 7 days; of a slow query log to the minute",
    ),
    Column(
        "lag_seconds",
        "Delay until read",
        20,
        "duration",
        note="Time since the last line while bytes are unread; the lag of a replica is unknown: servers "
        "do not log it",
    ),
)
COSTS = (
    Column("log", "Log", 0),
    Column(
        "requests",
        "Requests",
        14,
        "count",
        note="Requests to the service of the log, with repetitions; unknown for topics",
    ),
    Column("received_bytes", "Received", 14, "bytes", note="Bytes of the answers of the service"),
    Column("line_bytes", "Lines", 14, "bytes", note="Bytes of lines that were stored"),
    Column("monthly_requests", "Requests in 30 days", 20, "count", note="At this rate"),
    Column("monthly_bytes", "Received in 30 days", 20, "bytes", note="At this rate"),
)
CSV_RULES = (
    Column("rule_title", "Rule"),
    Column("level", "Level"),
    Column("reason", "Reason"),
    Column("missing", "Missing"),
    Column("change", "To change"),
    Column("rule_id", "Id"),
)


def of_name(servers: Sequence[Server], text: str) -> list[Server]:
    """Returns the servers whose instance or cluster contains the text, in upper or lower case."""
    wanted = text.casefold()
    return [each for each in servers if wanted in f"{each.instance}\n{each.cluster}".casefold()]


def pages(servers: Sequence[Server]) -> int:
    """Returns the number of pages of the table, at least 1."""
    return max(1, -(-len(servers) // PAGE_SIZE))


def page(servers: Sequence[Server], number: int) -> Sequence[Server]:
    """Returns the servers of a page of the table, from 1."""
    return servers[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]


def server_rows(servers: Iterable[Server], address: Callable[[str], str]) -> list[dict[str, Any]]:
    """Returns the rows of SERVERS and RULES; `address` returns the link of an instance."""
    return [
        {
            "instance": server.instance,
            "address": address(server.instance),
            "product": product_text(server),
            **{source.kind: state_text(source) for source in server.sources},
            "problems": server.problems,
            "rules": rules_text(server),
        }
        for server in servers
    ]


def product_text(server: Server) -> str | None:
    """Returns product and version; None if they are unknown."""
    return f"{PRODUCTS[server.product.name]} {server.product.text}" if server.product else None


def state_text(source: Source) -> str:
    return f"{SYMBOLS[source.state]} {source.state}"


def rules_text(server: Server) -> str | None:
    return None if server.rules is None else f"{server.able:,} of {server.rules:,}"


def source_rows(server: Server) -> list[dict[str, Any]]:
    """Returns the rows of SOURCES."""
    return [
        {
            "source": source.title,
            "state": state_text(source),
            "read_at": source.read_at,
            "last_event": source.last_event,
            "lag_seconds": source.lag_seconds,
        }
        for source in server.sources
    ]


def csv_rows(servers: Iterable[Server]) -> list[dict[str, Any]]:
    """Returns the rows of CSV_SOURCES: one for each problem, and one for a source without any."""
    return [row for server in servers for source in server.sources for row in _csv_rows(server, source)]


def _csv_rows(server: Server, source: Source) -> list[dict[str, Any]]:
    known = {
        "instance": server.instance,
        "cluster": server.cluster,
        "source": source.title,
        "state": source.state,
        "read_at": source.read_at,
        "last_event": source.last_event,
        "lag_seconds": source.lag_seconds,
    }
    nothing = {"severity": "", "problem": "", "fix": ""}
    found = [
        {"severity": each.severity, "problem": each.message, "fix": " | ".join(each.fix)}
        for each in source.findings
    ]
    return [{**known, **each} for each in found or [nothing]]


def rule_rows(groups: Sequence[Group]) -> list[dict[str, Any]]:
    """Returns the rows of CSV_RULES."""
    return [
        {**rule, "missing": group.missing, "change": group.change} for group in groups for rule in group.rules
    ]


def cost_rows(costs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows of COSTS. What a month costs follows from the time for which the costs are known."""
    return [
        {
            **cost,
            "monthly_requests": _monthly(cost["requests"], cost["known_seconds"]),
            "monthly_bytes": _monthly(cost["received_bytes"], cost["known_seconds"]),
        }
        for cost in costs
    ]


def _monthly(amount: int | None, seconds: int) -> int | None:
    if amount is None or seconds < MIN_KNOWN_SECONDS:
        return None
    return round(amount * MONTH_SECONDS / seconds)


def headline(
    servers: Sequence[Server], traces: dict[str, Any], costs: Sequence[dict[str, Any]] = ()
) -> list[dict[str, str]]:
    """Returns the numbers above the page. Without any server, their problems are unknown."""
    states = [source.state for server in servers for source in server.sources]
    absent = states.count(NEVER)
    late = sum(state in (NEVER, SILENT, BEHIND) for state in states)
    never = sum(server.never_arrived for server in servers)
    with_problems = sum(server.problems > 0 for server in servers)
    return [
        _number("Servers", len(servers), f"{never:,} never sent anything" if never else ""),
        _number("Servers with problems", with_problems if servers else None),
        _number(
            "Sources silent or behind",
            late if servers else None,
            f"{absent:,} never arrived" if absent else "",
        ),
        _number("Spans of traces in 7 days", traces["spans"], _last(traces)),
        *([_cost(costs)] if costs else []),
    ]


def _cost(costs: Sequence[dict[str, Any]]) -> dict[str, str]:
    received = formats.size(sum(each["received_bytes"] for each in costs))
    note = f"{received} received, of {counted(len(costs), 'log')}"
    requests = [each["requests"] for each in costs if each["requests"] is not None]
    if len(requests) < len(costs):
        note += f"; requests are not counted for {counted(len(costs) - len(requests), 'log')}"
    return _number("Requests of pulled logs in 24 h", sum(requests) if requests else None, note)


def _last(traces: dict[str, Any]) -> str:
    if traces["last_span"] is None:
        return "no application sends traces (docs/TRACES.md)"
    number = traces["services"]
    return f"last {formats.time(traces['last_span'])} UTC, {counted(number, 'service')}"


def _number(title: str, value: int | None, note: str = "") -> dict[str, str]:
    return {"title": title, "value": formats.count(value), "link": "", "note": note}
