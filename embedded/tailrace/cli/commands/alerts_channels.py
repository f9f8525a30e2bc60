"""`tailrace alerts channels`: the channels of alerts.yaml, and whether their receivers answer."""

import argparse
from datetime import UTC, datetime
from typing import Any

from tailrace import console
from tailrace.cli import output
from tailrace.cli.commands.alert_keys import KEYS as ALERT_KEYS
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit

PURPOSE = "list the channels of alerts.yaml, and whether their receivers answer"
ACCOUNT = "analyst"
KEYS = tuple(ALERT_KEYS["channels"])


def configure(parser: argparse.ArgumentParser) -> None:
    output.add_option(parser)


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    # Its modules take a tenth of a second to import, which other subcommands need not wait for.
    from tailrace.alerts.delivery import channel_states

    rows = [_row(vars(channel)) for channel in channel_states.load(context.clickhouse(ACCOUNT))]
    if arguments.output == output.JSON:
        output.write_json(rows)
    elif arguments.output == output.CSV:
        output.write_csv(KEYS, rows)
    elif rows:
        console.table(KEYS, [[_cell(row[key]) for key in KEYS] for row in rows], ("failures",))
    else:
        print("The delivery has reported no channel; docs/ALERTS.md describes alerts.yaml.")
    return Exit.OK


def _row(channel: dict[str, Any]) -> dict[str, Any]:
    is_known = channel["state"] != "unknown"
    return {
        "channel": channel["name"],
        "kind": channel["kind"],
        "state": channel["state"],
        "since": _time(channel["since"]) if is_known else None,
        "failures": channel["failures"] if is_known else None,
        "retry_at": _time(channel["retry_at"]) if is_known else None,
        "detail": channel["detail"] or None,
        "reported_at": _time(channel["at"]),
    }


def _time(seconds: int) -> str | None:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}" if seconds else None


def _cell(value: object) -> str:
    return "" if value is None else console.plain(value)
