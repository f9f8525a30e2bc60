"""The accounts that the clients of an incident tried without success, and which of them they entered later.

An alert of a password spray stores the events up to the threshold of its rule. The client may have tried many
more accounts, so these are read from the refused logins of all logs, an hour before and after the incident
too.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from tailrace.plural import counted
from tailrace_pages import formats, links
from tailrace_pages.time_range import TimeRange

if TYPE_CHECKING:
    from tailrace_pages.store import Store

QUERY, SESSIONS = "page_incident_tried", "page_incident_sessions"
NAMED = 50
"""Accounts of a client that the page names."""
SHOWN_SESSIONS = 10
"""Sessions of a client of which the page says what they did."""
ANONYMOUS = "(empty name)"

Row = Mapping[str, Any]


def of_clients(store: "Store", clients: Sequence[str], span: TimeRange, has_entities: bool) -> list[dict]:
    """Returns for each client with refused logins a sentence, the accounts, and the number of further ones.

    `accounts` and `entered` are texts with the address of a page, or with none. `sessions` are those of the
    first accounts that it entered, with what they did until the end of the time.
    """
    found = _by_client(store, clients, span)
    did = _sessions(store, [row for rows in found for row in _entered(rows)], span)
    return [_of_client(rows, did, span, has_entities) for rows in found]


def sentences(store: "Store", clients: Sequence[str], span: TimeRange) -> list[str]:
    """Returns the sentence of each client with refused logins."""
    return [_sentence(rows) for rows in _by_client(store, clients, span)]


def _by_client(store: "Store", clients: Sequence[str], span: TimeRange) -> list[list[Row]]:
    """Returns the rows of QUERY of each client, ordered by the first attempt."""
    rows = store.rows(QUERY, clients=list(clients), **span.parameters()) if clients else []
    by_client = groupby(rows, key=lambda row: row["client"])
    return [sorted(its, key=lambda row: (row["first_attempt"], row["name"])) for _, its in by_client]


def _entered(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["logged_in_at"] is not None]


def _sessions(store: "Store", entered: Sequence[Row], span: TimeRange) -> dict[tuple[str, int], Row]:
    """Returns the rows of SESSIONS by server and connection, for sessions that some log numbers."""
    its = [row for row in entered if row["login_connection"]]
    if not its:
        return {}
    servers, connections = ([row[name] for row in its] for name in ("login_server", "login_connection"))
    users = sorted({row["name"] for row in its})
    rows = store.rows(SESSIONS, servers=servers, connections=connections, users=users, **span.parameters())
    return {(row["instance"], row["connection_id"]): row for row in rows}


def names(found: Sequence[Mapping[str, Any]]) -> set[str]:
    """Returns the names of all accounts that were read."""
    return {name for each in found for name in each["names"]}


def _of_client(
    rows: Sequence[Row], did: Mapping[tuple[str, int], Row], span: TimeRange, has_entities: bool
) -> dict[str, Any]:
    def user(name: str) -> str:
        return links.user(name, span) if has_entities and name else ""

    entered, client = _entered(rows), rows[0]["client"]
    numbered = list(islice((row for row in entered if row["login_connection"]), SHOWN_SESSIONS))
    return {
        "client": client,
        "sentence": _sentence(rows),
        "names": {row["name"] for row in rows},
        "accounts": [(row["name"] or ANONYMOUS, user(row["name"])) for row in rows[:NAMED]],
        "further": rows[0]["total"] - min(len(rows), NAMED),
        "sessions": [_session(row, did, span, has_entities) for row in numbered],
        "sessions_until": span.until,
        "entered": [(_login(row), user(row["name"])) for row in entered],
        "not_entered": "" if entered else not_entered(rows),
        "address": links.client(client, span) if has_entities else "",
    }


def _session(
    row: Row, did: Mapping[tuple[str, int], Row], span: TimeRange, has_entities: bool
) -> dict[str, str]:
    """Returns a session: its name, the address of its page or nothing, and what it did."""
    cluster, instance, connection = row["login_cluster"], row["login_server"], row["login_connection"]
    return {
        "title": f"Session {connection} on {instance}",
        "address": links.session(cluster, instance, connection, span) if has_entities else "",
        "did": what_it_did(did.get((instance, connection))),
    }


def what_it_did(row: Row | None) -> str:
    """The statements of a session and the rows that they sent; only slow query logs contain these."""
    if row is None:
        return "no statement in the logs of this time"
    statements, timed = int(row["statements"]), int(row["timed"])
    number, sent = counted(statements, "statement"), counted(int(row["rows_sent"]), "row")
    if not timed:
        return f"{number}, rows sent {formats.UNKNOWN}: no slow query log contains them"
    if timed < statements:
        return f"{number}, at least {sent} sent, known for {timed:,} of them"
    return f"{number}, {sent} sent"


def _sentence(rows: Sequence[Row]) -> str:
    return sentence(rows[0]["client"], rows[0], len(_entered(rows)))


def sentence(client: str, row: Row, entered: int) -> str:
    """How many accounts a client tried, how often and when; `row` is one of its rows. `entered` is the number
    of accounts to which it logged in afterwards."""
    total, attempts = int(row["total"]), int(row["client_attempts"])
    accounts = f"{formats.count(total)} account{'s' if total > 1 else ''}"
    logins = f"{formats.count(attempts)} refused login{'s' if attempts > 1 else ''}"
    began, ended = formats.time(row["client_first"]), formats.time(row["client_last"])
    when = f"at {began}" if began == ended else f"from {began} to {ended}"
    then = f" Afterwards it logged in to {entered} of them." if entered else ""
    return f"{formats.visible(client)} tried {accounts} without success, with {logins} {when} UTC.{then}"


def not_entered(rows: Sequence[Row]) -> str:
    """What is known of logins after the refused ones, if there are none."""
    unknown = sorted({server for row in rows for server in row["unknown_servers"]})
    if not unknown:
        return "none of them in the logs of this time"
    servers = formats.visible(", ".join(unknown))
    return f"{formats.UNKNOWN}: no log of {servers} contains a successful login of this time"


def _login(row: Row) -> str:
    at, server = formats.time(row["logged_in_at"]), row["login_server"]
    return f"{row['name'] or ANONYMOUS} ({at} on {server})"
