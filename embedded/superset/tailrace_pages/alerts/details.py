"""One alert: a sentence that says what happened, its facts, and the rows of its tables."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from tailrace.alerts import mitre_attack
from tailrace.alerts.triage import uuid_of
from tailrace.plural import counted
from tailrace_pages import formats, links
from tailrace_pages.alerts import listing, tried_accounts
from tailrace_pages.columns import Column
from tailrace_pages.page_errors import NotFoundError
from tailrace_pages.time_range import TimeRange

if TYPE_CHECKING:
    from tailrace_pages.store import Store

MARGIN = timedelta(hours=1)
"""Shown before and after the evidence by the links to sessions and entities."""
EARLIER = 10
EVENT_IDS = 1000
"""Ids of events whose connections are looked up."""

CONDITIONS = {
    "gte": "at least",
    "gt": "more than",
    "lte": "at most",
    "lt": "less than",
    "eq": "exactly",
    "neq": "other than",
}
"""The operators of a correlation's condition, as the detect job writes them, in words."""
TITLES = {
    "matches": "Matching events",
    "condition": "Threshold of the rule",
    "counted": "What the rule counts",
}
"""Titles of facts whose names do not say what they are."""

HISTORY = (
    Column("at", "Time (UTC)", 20, "time"),
    Column("actor", "By", 20),
    Column("what", "Action", 28),
    Column("detail", "Reason or detail"),
)
EARLIER_COLUMNS = (
    Column("event_time", "Event (UTC)", 20, "time", link="address"),
    Column("instance", "Instance", 16),
    Column("alert_count", "Count", 8, "count"),
    Column("shown_state", "State", 20),
    Column("closed_because", "Closed because"),
)


def read(store: "Store", id_: str) -> dict[str, Any]:
    """Returns the alert with these 32 digits. Raises NotFoundError."""
    found = store.row("page_alert", id=uuid_of(id_))
    if found is None:
        raise NotFoundError(f"There is no alert {id_}, or your role does not see its server.")
    return {**found, "shown_state": listing.shown_state(found)}


def history(store: "Store", id_: str) -> list[dict[str, Any]]:
    return store.rows("page_alert_history", id=uuid_of(id_))


def earlier(store: "Store", alert: Mapping[str, Any]) -> tuple[list[dict[str, Any]], int]:
    """Returns the latest earlier alerts of the same rule and entity, and how many there are."""
    rows = store.rows(
        "page_alert_earlier",
        id=uuid_of(alert["id"]),
        rule_id=alert["rule_id"],
        entity_key=alert["entity_key"],
        cluster=alert["cluster"],
        to=f"{alert['event_time']:%Y-%m-%d %H:%M:%S}",
        limit=EARLIER,
    )
    shown = [
        {**row, "shown_state": listing.shown_state(row), "address": links.alert(row["id"])} for row in rows
    ]
    return shown, rows[0]["total"] if rows else 0


def sessions(store: "Store", alert: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the connections of the alert's events, each with the address of its page."""
    span = around(alert)
    return [
        {**row, "address": links.session(row["cluster"], row["instance"], row["connection_id"], span)}
        for row in _of_events(store, "page_alert_sessions", alert, span)
    ]


def queries(store: "Store", alert: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the queries of the alert's events, each with the address of its page and its rows sent."""
    span = around(alert)
    return [
        {
            **row,
            "address": links.query(row["query"], span),
            "rows_sent": rows_sent(row["sent"], row["known"], row["events"], row["linked"]),
        }
        for row in _of_events(store, "page_alert_queries", alert, span)
    ]


def _of_events(store: "Store", query: str, alert: Mapping[str, Any], span: TimeRange) -> Sequence[Mapping]:
    """Returns the rows of a query about the events of an alert; none without a server or events."""
    if not (alert["instance"] and alert["event_ids"]):
        return []
    ids = list(alert["event_ids"][:EVENT_IDS])
    return store.rows(query, instance=alert["instance"], event_ids=ids, **span.parameters())


def rows_sent(sent: int, known: int, events: int, linked: int = 0) -> str:
    """Returns the rows sent by events. Only entries of slow query logs contain it: of the `linked` events it
    is that of the entry of the same execution."""
    if not known:
        return f"{formats.UNKNOWN}: the log of these events does not contain it"
    source = ", from the slow query log" if linked else ""
    if known < events:
        return f"at least {formats.count(sent)}{source}, known for {known:,} of {events:,} events"
    return f"{formats.count(sent)}{source}"


def pseudonyms(store: "Store", alert: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Returns the pseudonyms of users and clients in the alert's events, as `facts`; the alert has names."""
    if not alert["event_ids"]:
        return []
    span = around(alert)
    rows = store.rows(
        "page_event_pseudonyms",
        instance=alert["instance"],
        event_ids=list(alert["event_ids"][:EVENT_IDS]),
        **span.parameters(),
    )
    made = {"user": ("User in its events", links.user), "client": ("Client in its events", links.client)}
    return [
        (made[row["kind"]][0], row["pseudonym"], made[row["kind"]][1](row["pseudonym"], span)) for row in rows
    ]


def around(alert: Mapping[str, Any]) -> TimeRange:
    """The time of the evidence with a margin."""
    return TimeRange(alert["window_from"], alert["event_time"]).around(MARGIN)


def sentence(alert: Mapping[str, Any]) -> str:
    """What happened: who, from where, on which server, how often and when."""
    who = f"user {formats.visible(alert['user'])}" if alert["user"] else "An unknown user"
    source = f" from {formats.visible(alert['src_ip'])}" if alert["src_ip"] else ""
    place = f" on {formats.visible(alert['instance'])}" if alert["instance"] else ""
    if client := client_of_many_users(alert):
        users = counted(int(alert["metric"]), "user")
        return (
            f"{alert['rule_title']}: client {formats.visible(client)}{place}, {users} when the rule matched, "
            f"{_times(alert)}."
        )
    program = f" with {formats.visible(alert['program'])}" if alert["program"] else ""
    subject = f"{who}{source}{program}" if alert["user"] or source or program else _entity(alert)
    return f"{alert['rule_title']}: {subject}{place}, {_times(alert)}."


def client_of_many_users(alert: Mapping[str, Any]) -> str:
    """Returns the client that an alert is about if its rule counts the users of the client; else nothing.

    The user of such an alert is that of the event that reached the threshold, one of many.
    """
    entity, counts = alert.get("entity") or {}, alert.get("facts") or {}
    if "user" in entity or counts.get("counted") != "user":
        return ""
    return alert["src_ip"] if "src_ip" in entity else entity.get("host", "")


def tried(store: "Store", alert: Mapping[str, Any]) -> list[str]:
    """Returns how many accounts the client of an alert tried near its time, also after the threshold of the
    rule; nothing if the alert does not count users, or no login was refused."""
    client = client_of_many_users(alert)
    return tried_accounts.sentences(store, [client], around(alert)) if client else []


def _entity(alert: Mapping[str, Any]) -> str:
    return formats.entity(alert["entity_key"]) or "no entity"


def _times(alert: Mapping[str, Any]) -> str:
    number = int(alert["alert_count"])
    how_often = "matched once" if number == 1 else f"matched {formats.count(number)} times"
    began, ended = formats.time(alert["window_from"]), formats.time(alert["event_time"])
    return f"{how_often}, {f'at {ended}' if began == ended else f'from {began} to {ended}'} UTC"


def fact_title(name: str) -> str:
    """Returns the title of a fact of a rule or detector: `median_before_ms` is "Median before (ms)"."""
    if name in TITLES:
        return TITLES[name]
    words, is_milliseconds = name.removesuffix("_ms").replace("_", " "), name.endswith("_ms")
    words = words.replace("src ip", "client").replace(" ip", " address")
    return words[:1].upper() + words[1:] + (" (ms)" if is_milliseconds else "")


def fact_value(name: str, value: str) -> str:
    """Returns the value of a fact; a condition of a correlation in words: `gte 10` is "at least 10"."""
    bounds = [bound.partition(" ") for bound in value.split(" and ")]
    if name != "condition" or any(operator not in CONDITIONS for operator, *_ in bounds):
        return value
    return " and ".join(f"{CONDITIONS[operator]} {number}" for operator, _, number in bounds)


def facts(
    alert: Mapping[str, Any],
    has_entities: bool,
    in_events: Sequence[tuple[str, str, str]] = (),
    its_queries: Sequence[Mapping[str, Any]] = (),
    has_queries: bool = False,
) -> list[tuple[str, str, str]]:
    """Returns name, value and the address of a link (or nothing) of what is known about an alert.

    `in_events` are the facts of `pseudonyms`, `its_queries` the rows of `queries`.
    """
    span = around(alert) if has_entities else None
    user = links.user(alert["user"], span) if span and alert["user"] else ""
    client = links.client(alert["src_ip"], span) if span and alert["src_ip"] else ""
    listed = [
        ("Entity", formats.entity(alert["entity_key"]), _query_address(alert) if has_queries else ""),
        ("User of one of its events" if client_of_many_users(alert) else "User", alert["user"], user),
        ("Client", alert["src_ip"], client),
        *in_events,
        ("Program", alert["program"], ""),
        ("Instance", alert["instance"], ""),
        ("Cluster", alert["cluster"], ""),
        ("Database", alert["database"], ""),
        ("Rows sent", _all_rows_sent(its_queries), ""),
        ("Detected (UTC)", formats.time(alert["detected_at"]), ""),
        ("Last detected (UTC)", formats.time(alert["updated_at"]), ""),
        ("Arrived late", _delay(alert) if alert["late"] else "", ""),
        ("Counted by the rule", formats.count(alert["metric"]), ""),
        *((fact_title(name), fact_value(name, value), "") for name, value in sorted(alert["facts"].items())),
        ("Tactics", _tactics(alert["tags"]), ""),
        ("Techniques", ", ".join(mitre_attack.techniques(alert["tags"])), ""),
        ("Rule file", alert["rule_file"], ""),
    ]
    return [(name, formats.visible(value), address) for name, value, address in listed if value]


def _query_address(alert: Mapping[str, Any]) -> str:
    """Returns the address of the query that an alert is about; empty if it is about something else."""
    query_id = (alert.get("entity") or {}).get("query_id", "")
    return links.query(query_id.upper(), around(alert)) if query_id else ""


def _delay(alert: Mapping[str, Any]) -> str:
    """Returns the time between the event and its detection; a time of a log can be in the future."""
    delay = alert["detected_at"] - alert["event_time"]
    return f"detected {formats.duration(delay.total_seconds())} after the event"


def _all_rows_sent(its_queries: Sequence[Mapping[str, Any]]) -> str:
    if not its_queries:
        return ""
    first = its_queries[0]
    return rows_sent(first["all_sent"], first["all_known"], first["all_events"], first["all_linked"])


def _tactics(tags: Sequence[str]) -> str:
    return ", ".join(f"{name} ({id_})" for id_, name in mitre_attack.tactics(tags))
