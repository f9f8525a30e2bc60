"""The options of `tailrace search` for scheduled searches: save one, list all, remove one."""

import argparse
import getpass
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tailrace import console
from tailrace.alerts.delivery import config
from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.config import yaml_reader
from tailrace.errors import UsageError
from tailrace.search import Request, text_of
from tailrace.search.scheduled import saved
from tailrace.search.scheduled.saved import ScheduledSearch, ScheduleError
from tailrace.search.value_types import span_text

ACCOUNT = "analyst"
KEYS = {
    "name": "the name of the search",
    "owner": "who saved it",
    "role": "the audience whose rights apply",
    "search": "the search",
    "every": "the interval, such as 1h",
    "channels": "the channels that receive results",
    "last": "the end of the last run that was finished, in ISO 8601 UTC; null before the first",
    "outcome": "of the last attempt: nothing, delivered, failed, refused, denied, error or missed",
    "events": "the number of events of the last attempt",
    "missed": "the number of runs that did not take place",
    "detail": "what the last attempt says",
}
_COLUMNS = ("name", "owner", "role", "every", "channels", "last", "outcome", "events", "missed", "search")


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument(
        "--save", metavar="NAME", help="save the search under a name, to run it --every interval"
    )
    parser.add_argument("--every", metavar="SPAN", help="interval of a saved search, such as 1h; at least 5m")
    parser.add_argument(
        "--deliver",
        action="append",
        default=[],
        metavar="CHANNEL",
        help="channel of alerts.yaml; may be repeated",
    )
    parser.add_argument("--owner", metavar="NAME", help="owner of a saved search (default: your login name)")
    parser.add_argument(
        "--scheduled", action="store_true", help="list the saved searches with their last runs"
    )
    parser.add_argument("--remove", metavar="NAME", help="end the schedule of a saved search")


def save(arguments: argparse.Namespace, context: Context, request: Request) -> None:
    """Saves a search that its role may run. Raises UsageError."""
    if arguments.save is None or arguments.every is None or not arguments.deliver:
        raise UsageError("a saved search needs --save NAME, --every SPAN and --deliver CHANNEL")
    try:
        every = timedelta(seconds=yaml_reader.span(arguments.every))
        search = ScheduledSearch(
            owner=_owner(arguments),
            name=arguments.save,
            role=request.role.name,
            search=text_of(request.query),
            every=every,
            channels=_channels(arguments.deliver, context),
        )
    except (ScheduleError, ValueError) as error:
        raise UsageError(str(error)) from error
    saved.save(context.clickhouse(ACCOUNT), search)
    where = ", ".join(search.channels)
    print(f"{search.name}: runs every {arguments.every} as {search.role}, and sends what it finds to {where}")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    """Lists the searches, or removes one."""
    clickhouse = context.clickhouse(ACCOUNT)
    if arguments.remove is not None:
        saved.remove(clickhouse, _owner(arguments), arguments.remove)
        print(f"{arguments.remove}: removed")
        return Exit.OK
    rows = [_row(row) for row in saved.rows(clickhouse)]
    if arguments.output == output.JSON:
        output.write_json({"scheduled": rows})
    elif arguments.output == output.CSV:
        output.write_csv(tuple(KEYS), [{**row, "channels": ",".join(row["channels"])} for row in rows])
    elif rows:
        console.table(_COLUMNS, [[_cell(row[key]) for key in _COLUMNS] for row in rows], ("events", "missed"))
    else:
        print("There is no scheduled search.")
    return Exit.OK


def _owner(arguments: argparse.Namespace) -> str:
    return arguments.owner or getpass.getuser()


def _channels(names: list[str], context: Context) -> list[str]:
    """Raises UsageError for a channel that alerts.yaml does not have."""
    file = context.settings.alerts_config
    if not file.exists():
        raise UsageError(f"there is no {file}, which lists channels; see docs/ALERTS.md")
    known = [channel.name for channel in config.load(file).channels]
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"--deliver {unknown[0]}: the channels of {file.name} are: {', '.join(known)}")
    return list(dict.fromkeys(names))


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    last = int(row["last_until_seconds"])
    return {
        "name": row["name"],
        "owner": row["owner"],
        "role": row["role"],
        "search": row["search"],
        "every": span_text(int(row["every_seconds"])),
        "channels": row["channels"],
        "last": f"{datetime.fromtimestamp(last, UTC):%Y-%m-%dT%H:%M:%SZ}" if last else None,
        "outcome": row["last_outcome"] or None,
        "events": int(row["last_events"]) if row["last_outcome"] else None,
        "missed": int(row["missed"]),
        "detail": row["last_detail"],
    }


def _cell(value: object) -> str:
    if isinstance(value, list):
        return ",".join(value)
    return "" if value is None else console.plain(value)
