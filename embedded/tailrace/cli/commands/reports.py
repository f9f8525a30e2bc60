"""Lists the dashboards that are sent by mail, with recipients and times, or sends one now.

reports.yaml in the home directory lists the recipients (docs/REPORTS.md); the component `reports` sends each
report at its time. `send` sends one immediately to the same recipients, and does not change its next time.
"""

import argparse
import sys

from tailrace.cli import console
from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit
from tailrace.reports import superset_reports

HELP = "dashboards by mail: list them, or send one now"
COMPONENT = "reports"
EXAMPLES = ("tailrace reports list", "tailrace reports send weekly_compliance")


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="doing", metavar="SUBCOMMAND", required=True)
    commands.add_parser("list", help="list every report with its recipients and its schedule")
    send = commands.add_parser("send", help="render and send one now")
    send.add_argument("name", choices=sorted(superset_reports.definitions()), metavar="NAME")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    return _send(context, arguments.name) if arguments.doing == "send" else _list(context)


def _list(context: Context) -> Exit:
    file = context.settings.reports_config
    subscribed = {}
    if file.exists():
        subscribed = {each.report.name: each for each in superset_reports.load(file).subscriptions}
    rows = []
    for name, report in superset_reports.definitions().items():
        if each := subscribed.get(name):
            rows.append((name, f"{each.schedule}  {each.time_zone}", ", ".join(each.to)))
        else:
            rows.append((name, f"{report.schedule}  UTC", f"no recipients: add it to {file}"))
    console.table(("report", "when", "to"), rows)
    return Exit.OK


def _send(context: Context, name: str) -> Exit:
    file = context.settings.reports_config
    if not file.exists():
        raise CommandError(f"the report has no recipients: there is no {file}")
    wanted = [each for each in superset_reports.load(file).subscriptions if each.report.name == name]
    if not wanted:
        raise CommandError(f"the report has no recipients: {file} does not contain {name}")
    if context.component_state(COMPONENT) is None:
        raise CommandError("the component `reports` is not running; restart: tailrace down, tailrace up")
    steps = console.Steps(sys.stderr)
    steps.show("reports", f"rendering and sending {wanted[0].report.title}")
    if problem := context.send_report(wanted[0].name):
        raise CommandError(f"{name} was not sent: {problem}")
    print(f"{wanted[0].report.title}: sent to {', '.join(wanted[0].to)}")
    return Exit.OK
