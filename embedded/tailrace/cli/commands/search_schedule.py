"""The options of `tailrace search` for saved searches: save, schedule, list, pause and remove them."""

import argparse
import getpass
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from tailrace import console
from tailrace.alerts.delivery import config
from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.errors import UsageError
from tailrace.search import Request, text_of
from tailrace.search.scheduled import saved, slots
from tailrace.search.scheduled.saved import SavedSearch, Schedule, ScheduleError, require_channels

ACCOUNT = "analyst"
KEYS = {
    "name": "the name of the search",
    "owner": "who saved it",
    "role": "the audience whose rights apply",
    "search": "the search",
    "shared": "true if all users of the role see it",
    "every": "the interval, such as 1h; null without a schedule",
    "channels": "the channels that receive results",
    "min_events": "the least number of events that is sent; null without a schedule",
    "state": "outcome of the last run, or waiting, overdue, paused or suspended; null without a schedule",
    "next": "when the next run begins, in ISO 8601 UTC; past if it is late; null without a schedule",
    "last": "the end of the last run that was finished, in ISO 8601 UTC; null before the first",
    "outcome": "of the last run: nothing, delivered, failed, refused, denied, error or missed",
    "events": "the number of events of the last run; null if it is unknown",
    "missed": "the number of runs that did not take place",
    "detail": "reason why the schedule is suspended, otherwise the message of the last attempt",
}
_COLUMNS = (
    *("name", "owner", "role", "shared", "every", "channels", "state", "last", "next", "events", "missed"),
    "search",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("--save", metavar="NAME", help="save the search under a name")
    parser.add_argument(
        "--share", action="store_true", help="all users of the role see the saved search on the page"
    )
    parser.add_argument("--every", metavar="SPAN", help="interval of a saved search, such as 1h; at least 5m")
    parser.add_argument(
        "--deliver",
        action="append",
        default=[],
        metavar="CHANNEL",
        help="channel of alerts.yaml; may be repeated",
    )
    parser.add_argument(
        "--min-events",
        type=int,
        default=1,
        metavar="N",
        help="send only results with at least N events (default: 1; 0: all)",
    )
    parser.add_argument("--owner", metavar="NAME", help="owner of a saved search (default: your login name)")
    parser.add_argument(
        "--scheduled", action="store_true", help="list the saved searches with their last runs"
    )
    parser.add_argument("--pause", metavar="NAME", help="pause the schedule of a saved search")
    parser.add_argument("--resume", metavar="NAME", help="end the pause of a schedule")
    parser.add_argument("--remove", metavar="NAME", help="remove a saved search with its schedule")


def is_wanted(arguments: argparse.Namespace) -> bool:
    """Whether the options are about saved searches, without a search of their own."""
    return arguments.scheduled or any((arguments.remove, arguments.pause, arguments.resume))


def save(arguments: argparse.Namespace, context: Context, request: Request) -> None:
    """Saves a search that its role may run. Raises UsageError."""
    if arguments.save is None or bool(arguments.every) != bool(arguments.deliver):
        raise UsageError("a saved search needs --save NAME, and for a schedule --every and --deliver")
    try:
        search = SavedSearch(
            owner=_owner(arguments),
            name=arguments.save,
            role=request.role.name,
            search=text_of(request.query),
            schedule=_schedule(arguments, context) if arguments.every else None,
            shared=arguments.share,
            needs_account=False,
        )
    except ScheduleError as error:
        raise UsageError(str(error)) from error
    saved.store(context.clickhouse(ACCOUNT), search)
    where = ", ".join(search.channels)
    runs = f"runs every {arguments.every} as {search.role}, and sends what it finds to {where}"
    print(f"{search.name}: {runs if search.schedule else 'saved'}")


def _schedule(arguments: argparse.Namespace, context: Context) -> Schedule:
    """Raises ScheduleError, and UsageError without an alerts.yaml."""
    file = context.settings.alerts_config
    if not file.exists():
        raise UsageError(f"there is no {file}, which lists channels; see docs/ALERTS.md")
    channels = tuple(dict.fromkeys(arguments.deliver))
    require_channels(channels, [channel.name for channel in config.load(file).channels], file.name)
    return Schedule(saved.every_of(arguments.every), channels, arguments.min_events)


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    """Lists the searches, or removes, pauses or resumes one."""
    clickhouse = context.clickhouse(ACCOUNT)
    if arguments.remove is not None:
        saved.remove(clickhouse, _owner(arguments), arguments.remove)
        print(f"{arguments.remove}: removed")
    elif arguments.pause or arguments.resume:
        _set_paused(arguments, saved.load(clickhouse), context)
    else:
        _list(saved.load(clickhouse), arguments.output)
    return Exit.OK


def _set_paused(arguments: argparse.Namespace, known: Sequence[SavedSearch], context: Context) -> None:
    owner, name = _owner(arguments), arguments.pause or arguments.resume
    found = next((each for each in known if (each.owner, each.name) == (owner, name)), None)
    if found is None or found.schedule is None:
        raise ScheduleError(f"{owner} has no scheduled search {name!r}; see: tailrace search --scheduled")
    schedule = replace(found.schedule, paused=bool(arguments.pause), suspended="")
    saved.store(context.clickhouse(ACCOUNT), replace(found, schedule=schedule))
    print(f"{name}: {'paused' if schedule.paused else 'runs again'}")


def _list(searches: Sequence[SavedSearch], form: str) -> None:
    rows = [_row(search, datetime.now(UTC)) for search in searches]
    if form == output.JSON:
        output.write_json({"scheduled": rows})
    elif form == output.CSV:
        output.write_csv(tuple(KEYS), [{**row, "channels": ",".join(row["channels"])} for row in rows])
    elif rows:
        console.table(_COLUMNS, [[_cell(row[key]) for key in _COLUMNS] for row in rows], ("events", "missed"))
    else:
        print("There is no saved search.")


def _owner(arguments: argparse.Namespace) -> str:
    return arguments.owner or getpass.getuser()


def _row(search: SavedSearch, now: datetime) -> dict[str, Any]:
    schedule, last = search.schedule, search.last
    return {
        "name": search.name,
        "owner": search.owner,
        "role": search.role,
        "search": search.search,
        "shared": search.shared,
        "every": schedule.every_text if schedule else None,
        "channels": list(search.channels),
        "min_events": schedule.min_events if schedule else None,
        "state": slots.state_of(search, now) or None,
        "next": _time(slots.next_run(search, now)),
        "last": _time(search.last_until),
        "outcome": last.outcome if last else None,
        "events": last.events if last else None,
        "missed": search.missed,
        "detail": (schedule.suspended if schedule else "") or (last.detail if last else ""),
    }


def _time(time: datetime | None) -> str | None:
    return f"{time:%Y-%m-%dT%H:%M:%SZ}" if time else None


def _cell(value: object) -> str:
    if isinstance(value, list):
        return ",".join(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else console.plain(value)
