"""Lists the dashboards that are sent by mail, with recipients and times, or sends one now.

reports.yaml in the home directory lists the recipients (docs/REPORTS.md); the component `reports` sends each
report at its time. `send` sends one immediately to the same recipients, and does not change its next time.
"""

import argparse
import sys
from pathlib import Path

from tailrace import console
from tailrace.cli import output
from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit
from tailrace.reports import superset_reports

HELP = "dashboards by mail: list them, or send one now"
COMPONENT = "reports"
EXAMPLES = ("tailrace reports list", "tailrace reports send weekly_compliance")
EXIT_CODES = {3: "the stack is not running"}
SEE_ALSO = ("tailrace dashboards", "docs/REPORTS.md")
KEYS = {
    "list": {
        "report": "the name of the report",
        "schedule": "when it is sent, as a cron expression",
        "time_zone": "the IANA time zone of the schedule",
        "to": "the recipients, a list; empty if reports.yaml does not contain the report",
    }
}


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="doing", metavar="SUBCOMMAND", required=True)
    output.add_option(
        commands.add_parser("list", help="list every report with its recipients and its schedule")
    )
    send = commands.add_parser("send", help="render and send one now")
    send.add_argument("name", choices=sorted(superset_reports.definitions()), metavar="NAME")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    return _send(context, arguments.name) if arguments.doing == "send" else _list(context, arguments.output)


def _list(context: Context, form: str) -> Exit:
    file = context.settings.reports_config
    subscribed = {}
    if file.exists():
        subscribed = {each.report.name: each for each in superset_reports.load(file).subscriptions}
    rows = []
    for name, report in superset_reports.definitions().items():
        each = subscribed.get(name)
        schedule, zone, to = (
            (each.schedule, each.time_zone, list(each.to)) if each else (report.schedule, "UTC", [])
        )
        rows.append({"report": name, "schedule": schedule, "time_zone": zone, "to": to})
    if form == output.JSON:
        output.write_json(rows)
    elif form == output.CSV:
        output.write_csv(KEYS["list"], rows)
    else:
        console.table(("report", "when", "to"), [_cells(row, file) for row in rows])
    return Exit.OK


def _cells(row: dict[str, object], file: Path) -> tuple[object, ...]:
    to = ", ".join(row["to"]) or f"no recipients: add it to {file}"
    return row["report"], f"{row['schedule']}  {row['time_zone']}", to


def _send(context: Context, name: str) -> Exit:
    file = context.settings.reports_config
    if not file.exists():
        raise CommandError(
            f"the report has no recipients, because {file} does not exist; docs/REPORTS.md describes it"
        )
    wanted = [each for each in superset_reports.load(file).subscriptions if each.report.name == name]
    if not wanted:
        raise CommandError(f"the report has no recipients: add {name} to {file}")
    if context.component_state(COMPONENT) is None:
        raise CommandError("the component `reports` is not running; restart: tailrace down, tailrace up")
    steps = console.Steps(sys.stderr)
    steps.show("reports", f"rendering and sending {wanted[0].report.title}")
    if problem := context.send_report(wanted[0].name):
        raise CommandError(f"{name} was not sent: {problem}; see: tailrace logs reports")
    print(f"{wanted[0].report.title}: sent to {', '.join(wanted[0].to)}")
    return Exit.OK
