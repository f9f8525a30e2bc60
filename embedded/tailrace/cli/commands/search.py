"""Searches the events of all logs, and the alerts.

A search has conditions such as `user:etl` or `status:!=0`, texts that the masked statement or the message
contains, a time such as `last:24h`, and at most one pipe: `| top user`, `| timeline 5m` or `| count`.
Without a time, it covers the last 24 hours. docs/SEARCH.md describes the grammar, and --fields lists the
fields. It reads as one of the audiences: what this role may not see on a dashboard is refused with the
missing right.

`--save` does not run the search now: it saves it, with `--share` for all users of the role. With `--every`
and `--deliver`, the component `delivery` runs it at this interval as the role and sends the number of events
and the first ones to channels of alerts.yaml.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tailrace import console
from tailrace.cli import output
from tailrace.cli.commands import search_schedule
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.errors import UsageError
from tailrace.search import (
    ROLES,
    SECURITY,
    Page,
    Request,
    aggregated,
    listing,
    notes,
    parse,
    reference,
    text_of,
)
from tailrace.search.over_http import rows_of
from tailrace.search.paging import cursor

HELP = "search the events of all logs: `tailrace search 'user:etl status:!=0 last:24h'`"
EXAMPLES = (
    "tailrace search 'user:etl table:cards status:!=0 last:24h'",
    "tailrace search '\"drop table\" -user:deploy last:90d | top user'",
    "tailrace search 'kind:refused last:7d | timeline 1h' --output csv > refused.csv",
    "tailrace search 'duration:>1s last:1h' --role developers",
    "tailrace search 'kind:refused' --save refused --every 1h --deliver siem",
    "tailrace search --scheduled",
    "tailrace search --pause refused",
    "tailrace search --remove refused",
    "tailrace search --fields",
)
EXIT_CODES = {
    0: "the search was run, also if it found nothing, or it was saved or removed",
    1: "there is no saved search of this name",
    2: "the search or its schedule has a mistake, or the role may not read the searched data",
    3: "the stack is not running",
}
SEE_ALSO = ("tailrace alerts", "docs/SEARCH.md")
KEYS = {
    "": {
        "time": "time of the event, in ISO 8601 UTC with microseconds",
        "log": "slow, audit, general, error or alert",
        "kind": "connection, refused, statement, failed, table, message, other or alert",
        "cluster": "the cluster of the server",
        "instance": "the server",
        "user": "the account's user name",
        "client": "the client's address or host name",
        "program": "the client's program",
        "database": "the default database",
        "session": "the connection id",
        "command": "the command of an audit record, or the kind of a message",
        "verb": "the first word of the statement",
        "status": "the error code of the server; 0 for success",
        "duration": "the execution time in seconds",
        "rows_sent": "rows sent to the client",
        "rows_examined": "rows that the server read",
        "level": "the level of a message, or the severity of an alert",
        "code": "the code of a message",
        "tables": "tables that the statement reads or changes",
        "query": "the query id",
        "text": "the masked statement, the message, or the title of the alert's rule",
        "trace": "the trace id",
        "id": "the event's id",
        "events": "of a pipe: the number of events",
        "value": "of `| top`: the value; null for the events whose value is unknown",
    },
    "scheduled": search_schedule.KEYS,
}
MOST = 10_000
_SHOWN_TEXT = 120
_COLUMNS = ("time", "log", "kind", "user", "client", "instance", "session", "status", "text")
_LIST_KEYS = tuple(key for key in KEYS[""] if key not in ("events", "value"))


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("search", nargs="?", metavar="SEARCH", help="the search, as one argument")
    parser.add_argument(
        "--role",
        choices=tuple(ROLES),
        default=SECURITY.name,
        metavar="ROLE",
        help="audience whose rights apply: developers, compliance or security (default: security)",
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=50,
        metavar="N",
        help=f"list at most N events (default: 50; at most {MOST})",
    )
    parser.add_argument(
        "--cursor", default="", metavar="CURSOR", help="continue behind the last event of a list"
    )
    parser.add_argument("--fields", action="store_true", help="list the fields, with the logs that have them")
    search_schedule.configure(parser)
    output.add_option(parser)


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    if arguments.fields:
        _show_fields(arguments.output)
        return Exit.OK
    if search_schedule.is_wanted(arguments):
        return search_schedule.run(arguments, context)
    if arguments.search is None:
        raise UsageError("a search is missing\nsee: tailrace search --help")
    if not 1 <= arguments.limit <= MOST:
        raise UsageError(f"--limit {arguments.limit}: expected a number from 1 to {MOST}")
    request = Request(parse(arguments.search), ROLES[arguments.role], datetime.now(UTC))
    if arguments.save is not None or arguments.every is not None or arguments.deliver:
        search_schedule.save(arguments, context, request)
        return Exit.OK
    for note in notes(request.query):
        print(f"tailrace: {note}", file=sys.stderr)
    before = cursor(arguments.cursor) if arguments.cursor else None
    rows = rows_of(context.clickhouse(request.role.account))
    request = request.with_alert(rows)
    if request.query.pipe:
        _show_rows(request, aggregated(rows, request), arguments.output)
    else:
        _show_page(request, listing(rows, request, arguments.limit, before), arguments.output)
    return Exit.OK


def _show_fields(form: str) -> None:
    rows = reference.fields()
    if form == output.JSON:
        output.write_json(rows)
    elif form == output.CSV:
        output.write_csv(rows[0], rows)
    else:
        lines = [
            [row["field"], row["type"], ",".join(row["logs"]), _who(row), row["description"]] for row in rows
        ]
        console.table(("field", "type", "logs", "roles", "meaning"), lines)


def _who(row: Mapping[str, Any]) -> str:
    return "all" if len(row["roles"]) == len(ROLES) else ",".join(row["roles"])


def _head(request: Request) -> dict[str, Any]:
    since, until = request.span
    return {
        "search": text_of(request.query),
        "role": request.role.name,
        "from": _time(since),
        "to": _time(until),
    }


def _show_page(request: Request, page: Page, form: str) -> None:
    following = page.following.text() if page.following else None
    events = [{**event, "time": _time(event["time"])} for event in page.events]
    if form == output.JSON:
        shown = [{key: _known(key, event[key]) for key in _LIST_KEYS} for event in events]
        output.write_json({**_head(request), "events": shown, "next": following})
    elif form == output.CSV:
        output.write_csv(_LIST_KEYS, [{key: _known(key, each[key]) for key in _LIST_KEYS} for each in events])
    else:
        _show_table(request, events)
    if following and form != output.JSON:
        print(f"There are more events; the next ones: --cursor {following}", file=sys.stderr)


def _show_table(request: Request, events: Sequence[Mapping[str, Any]]) -> None:
    if not events:
        print(
            f"No event that {request.role.name} may read matches between {' and '.join(_ends(request))} UTC."
        )
        return
    console.table(
        _COLUMNS, [[_cell(key, event[key]) for key in _COLUMNS] for event in events], ("session", "status")
    )


def _show_rows(request: Request, rows: Sequence[Mapping[str, Any]], form: str) -> None:
    rows = [{**row, "time": _time(row["time"])} if "time" in row else row for row in rows]
    keys = list(rows[0]) if rows else ["events"]
    if form == output.JSON:
        output.write_json({**_head(request), "rows": rows})
    elif form == output.CSV:
        output.write_csv(keys, rows)
    elif rows:
        console.table(keys, [[_shown(row[key]) for key in keys] for row in rows], ("events",))
    else:
        _show_table(request, ())


def _ends(request: Request) -> list[str]:
    return [f"{end:%Y-%m-%d %H:%M:%S}" for end in request.span]


def _time(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%S.%fZ}"


def _known(key: str, value: object) -> object:
    """Returns a value, or None for an unknown one."""
    return None if value == "" or (key == "session" and value == 0) else value


def _cell(key: str, value: object) -> str:
    known = _known(key, value)
    text = "" if known is None else console.plain(known)
    return text if len(text) <= _SHOWN_TEXT else f"{text[:_SHOWN_TEXT]}…"


def _shown(value: object) -> str:
    return "(unknown)" if value is None else console.plain(value)
