"""`tailrace alerts deliver --test`: what the channels of alerts.yaml receive, with a sample alert."""

import argparse
import sys

from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit

PURPOSE = "show a sample alert in the form of each channel of alerts.yaml, or send it"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("channels", nargs="*", metavar="CHANNEL", help="names of channels (default: all)")
    parser.add_argument(
        "--test", action="store_true", required=True, help="use a sample alert; without --send only show it"
    )
    parser.add_argument("--send", action="store_true", help="also send it; nothing is recorded")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    # Its modules take a tenth of a second to import, which other subcommands need not wait for.
    from tailrace.alerts.delivery import config, trial

    file = context.settings.alerts_config
    if not file.exists():
        print(f"tailrace: {file} does not exist; docs/ALERTS.md describes it", file=sys.stderr)
        return Exit.USAGE
    loaded = config.load(file)
    try:
        channels = trial.selected(loaded, arguments.channels)
    except KeyError as error:
        known = ", ".join(channel.name for channel in loaded.channels)
        print(f"tailrace: {file} has no channel {error}; it has {known}", file=sys.stderr)
        return Exit.USAGE
    due = trial.sample()
    for channel, text in trial.previews(channels, loaded.dashboards, due):
        print(f"--- {channel.name}\n{text}\n")
    if not arguments.send:
        return Exit.OK
    outcomes = [*trial.attempts(channels, loaded.dashboards, due)]
    for channel, outcome in outcomes:
        print(f"{channel.name}: {outcome.outcome}: {outcome.detail}")
    return Exit.OK if all(each.outcome == "delivered" for _, each in outcomes) else Exit.FAILED
