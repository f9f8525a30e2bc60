"""The accounts that the clients of an incident tried without success, and which of them they entered later.

An alert of a password spray stores the events up to the threshold of its rule. The client may have tried many
more accounts, so these are read from the refused logins of all logs, an hour before and after the incident
too.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from tailrace.alerts.incidents import Incident
from tailrace_pages import formats, links
from tailrace_pages.time_range import TimeRange

if TYPE_CHECKING:
    from tailrace_pages.store import Store

QUERY = "page_incident_tried"
NAMED = 50
"""Accounts of a client that the page names."""
ANONYMOUS = "(empty name)"

Row = Mapping[str, Any]


def of_clients(store: "Store", incident: Incident, span: TimeRange, has_entities: bool) -> list[dict]:
    """Returns for each client with refused logins a sentence, the accounts, and the number of further ones.

    `accounts` and `entered` are texts with the address of a page, or with none.
    """
    clients = incident.values("client")
    if not clients:
        return []
    rows = store.rows(QUERY, clients=clients, **span.parameters())
    return [
        _of_client(client, list(of_client), span, has_entities)
        for client, of_client in groupby(rows, key=lambda row: row["client"])
    ]


def names(found: Sequence[Mapping[str, Any]]) -> set[str]:
    """Returns the names of all accounts that were read."""
    return {name for each in found for name in each["names"]}


def _of_client(client: str, rows: Sequence[Row], span: TimeRange, has_entities: bool) -> dict[str, Any]:
    def user(name: str) -> str:
        return links.user(name, span) if has_entities and name else ""

    ordered = sorted(rows, key=lambda row: (row["first_attempt"], row["name"]))
    entered = [row for row in ordered if row["logged_in_at"] is not None]
    return {
        "client": client,
        "sentence": sentence(client, rows[0], len(entered)),
        "names": {row["name"] for row in rows},
        "accounts": [(row["name"] or ANONYMOUS, user(row["name"])) for row in ordered[:NAMED]],
        "further": rows[0]["total"] - min(len(ordered), NAMED),
        "entered": [(_login(row), user(row["name"])) for row in entered],
        "not_entered": "" if entered else not_entered(rows),
        "address": links.client(client, span) if has_entities else "",
    }


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
