"""The truth about the two days: what every table of the pipeline must contain of each story."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from tailrace.demo.shop import services
from tailrace.demo.shop.events import Journal
from tailrace.demo.shop.log import Log
from tailrace.demo.shop.statements import ORDERS_OF_CUSTOMER, PRODUCT_OF_HISTORY
from tailrace.demo.shop.times import DEPLOYED, GAP_FROM, GAP_TO, INDEX_DROPPED, StoryTimes, iso
from tailrace.demo.shop.traffic import Trace

VERSION = 1

QUERY_IDS = {
    "dropped_index": "9D2588C0B2EC1927",
    "loop": "379B4375871268F4",
    "export": "5B54B1A5B88505B3",
}
"""`tailrace fingerprint` of the statements; a test compares them."""

GAP_INSTANCE = "billing-db-1"

ALERTS = (
    ("spray", "critical", "Sensitive data read from a public address", 1),
    ("spray", "high", "Login from a host that tried many accounts", 1),
    ("spray", "high", "Login from a public address", 1),
    ("spray", "high", "Refused logins to many accounts from one host", 1),
    ("export", "high", "Bulk read of sensitive data", 1),
    ("dropped_index", "medium", "Plan regression", 1),
    ("gap", "medium", "Gap in a log", 1),
    ("new_account", "medium", "CREATE USER executed for certain hosts", 1),
    ("spray", "medium", "Refused login with a usual name of an administrator", 1),
    ("spray", "medium", "Refused logins to many accounts from one host within a day", 1),
    ("spray", "medium", "Refused logins to many accounts of one server within a day", 1),
    ("spray", "medium", "Schema and privilege discovery", 1),
    ("dropped_index", "low", "Index dropped", 1),
    ("export", "low", "Sensitive data of a whole table read", 1),
    ("new_account", "low", "Privileges on a database or table granted", 1),
    ("spray", "low", "Login after several refused logins", 1),
    ("spray", "low", "Refused login with a usual name of an administrator", 2),
)
"""All alerts: story, level, title of the rule, number of alerts. Detectors that learn for days raise none."""

Facts = dict[str, dict[str, Any]]


def write(
    times: StoryTimes, journals: Mapping[str, Journal], logs: Sequence[Log], traces: list[Trace], facts: Facts
) -> dict[str, Any]:
    """Returns the manifest: plain values for JSON, times in ISO 8601 UTC."""
    executions = journals["shop-db-1"]
    stories = {
        **facts,
        "dropped_index": facts["dropped_index"] | _dropped_index(times, executions),
        "loop": _loop(times, executions, traces),
        "gap": _gap(times, logs),
    }
    for story, query_id in QUERY_IDS.items():
        stories[story]["query_id"] = query_id
    return {
        "version": VERSION,
        "story_day": times.day,
        "from": iso(times.start),
        "to": iso(times.now),
        "entries": {f"{log.instance}/{log.source}": log.events for log in logs},
        "total_entries": sum(log.events for log in logs),
        "spans": sum(len(trace.calls) + 1 for trace in traces),
        "stories": stories,
        "alerts": [dict(zip(("story", "level", "rule", "alerts"), row, strict=True)) for row in ALERTS],
    }


def _dropped_index(times: StoryTimes, journal: Journal) -> dict[str, Any]:
    """Returns executions and latencies of the statement before and after. A slow log of MariaDB has times in
    seconds, so an execution in the second of the drop counts as after it."""
    start = ORDERS_OF_CUSTOMER.text.partition("%s")[0]
    of_statement = [execution for execution in journal.executions if execution.sql.startswith(start)]
    dropped = times.at(INDEX_DROPPED)
    before = [execution.seconds for execution in of_statement if execution.at < dropped]
    after = [execution.seconds for execution in of_statement if execution.at >= dropped]
    return {
        "executions_before": len(before),
        "executions_after": len(after),
        "median_seconds_before": round(median(before), 6),
        "median_seconds_after": round(median(after), 6),
        "seconds_before": round(sum(before), 6),
        "seconds_after": round(sum(after), 6),
        "factor": round(median(after) / median(before)),
    }


def _loop(times: StoryTimes, journal: Journal, traces: list[Trace]) -> dict[str, Any]:
    start = PRODUCT_OF_HISTORY.text.partition("%s")[0]
    repeated = [
        trace for trace in traces if sum(call.text == PRODUCT_OF_HISTORY.text for call in trace.calls) > 1
    ]
    return {
        "instance": services.SHOP_WEB.instance,
        "service": services.SHOP_WEB.name,
        "endpoint": f"GET {services.HISTORY_ROUTE}",
        "statement": PRODUCT_OF_HISTORY.text,
        "repeats": services.PRODUCTS_PER_HISTORY,
        "version": services.NEW_VERSION,
        "version_before": services.OLD_VERSION,
        "from": iso(times.at(DEPLOYED)),
        "executions": sum(execution.sql.startswith(start) for execution in journal.executions),
        "traces": len(repeated),
    }


def _gap(times: StoryTimes, logs: Sequence[Log]) -> dict[str, Any]:
    log = next(log for log in logs if (log.instance, log.source) == (GAP_INSTANCE, "audit"))
    start, end = times.at(GAP_FROM), times.at(GAP_TO)
    first, last, entries = log.between(start, end)
    return {
        "instance": GAP_INSTANCE,
        "source": "audit",
        "from": iso(start),
        "to": iso(end),
        "from_offset": first,
        "to_offset": last,
        "bytes": last - first,
        "entries": entries,
    }
