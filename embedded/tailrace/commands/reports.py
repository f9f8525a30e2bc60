"""Shows who gets which dashboard by mail and when, or sends one now.

reports.yaml in the home directory says who gets what (docs/REPORTS.md); the part `reports` sends each at its
time. `send` sends one at once, to the same people, and changes nothing about its next time.
"""

import argparse
import sys

from tailrace import console, reports
from tailrace.commands import CommandError, Context
from tailrace.exits import Exit
from tailrace.parts.reports import Reports
from tailrace.stack import control

HELP = "dashboards by mail: list them, or send one now"
EXAMPLES = ("tailrace reports list", "tailrace reports send weekly_compliance")


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="doing", metavar="SUBCOMMAND", required=True)
    commands.add_parser("list", help="every report, who gets it, and when")
    send = commands.add_parser("send", help="draw and send one now")
    send.add_argument("name", choices=sorted(reports.definitions()), metavar="NAME")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    part = Reports(context.settings, context.home)
    return _send(part, arguments.name) if arguments.doing == "send" else _list(part)


def _list(part: Reports) -> Exit:
    subscribed = {}
    if part.configured():
        subscribed = {each.report.name: each for each in part.config().subscriptions}
    rows = []
    for name, report in reports.definitions().items():
        if each := subscribed.get(name):
            rows.append((name, f"{each.schedule}  {each.time_zone}", ", ".join(each.to)))
        else:
            rows.append((name, f"{report.schedule}  UTC", f"nobody: name it in {part.address()}"))
    console.table(("report", "when", "to"), rows)
    return Exit.OK


def _send(part: Reports, name: str) -> Exit:
    if not part.configured():
        raise CommandError(f"nobody gets it: there is no {part.address()}")
    wanted = [each for each in part.config().subscriptions if each.report.name == name]
    if not wanted:
        raise CommandError(f"nobody gets it: {part.address()} does not name {name}")
    if control.status(part.home).part(part.name) is None:
        raise CommandError("the part reports does not run; start all anew: tailrace down, tailrace up")
    steps = console.Steps(sys.stderr)
    steps.show("reports", f"drawing and sending {wanted[0].report.title}")
    if problem := part.send(wanted[0].name):
        raise CommandError(f"{name} was not sent: {problem}")
    print(f"{wanted[0].report.title}: sent to {', '.join(wanted[0].to)}")
    return Exit.OK
