"""Shows how long each table keeps its rows and why; applies sql/retention.yaml, holds and the archive.

`show` marks tables whose retention is shorter than a framework demands. `apply` changes ClickHouse's TTLs,
and returns after no held row can be deleted; a running stack does the same once a day.
"""

import argparse

from tailrace import console
from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.plural import counted
from tailrace.retention import demands, holds, overview
from tailrace.retention.overview import Line, Policy

HELP = "show the retention of each table with its requirements; apply changes"
EXAMPLES = ("tailrace retention show --framework pci", "tailrace retention apply")
EXIT_CODES = {1: "a TTL could not be changed", 3: "the stack is not running"}
SEE_ALSO = ("tailrace hold", "tailrace migrate", "docs/RETENTION.md")
KEYS = {
    "show": {
        "table": "table of ClickHouse",
        "class": "class of records",
        "days": "days after which its rows are deleted",
        "demands": "requirements of the frameworks, separated by semicolons",
        "too_short_for": "frameworks that demand a longer time, separated by semicolons",
        "rows": "stored rows; null if they cannot be read",
        "oldest": "time of the oldest row, UTC; null without rows",
        "held": "rows that a legal hold keeps; null if they cannot be read",
        "expires_next": "when the oldest row without a hold expires, UTC; null if there is none",
        "archive": "how far the archive is; empty if rows do not wait for it",
    }
}


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="doing", metavar="SUBCOMMAND", required=True)
    show = commands.add_parser("show", help="list tables with their retention and its reasons")
    show.add_argument(
        "--framework",
        dest="frameworks",
        action="append",
        choices=tuple(demands.frameworks()),
        help="count the demands of this one only; can be repeated (default: all)",
    )
    output.add_option(show)
    commands.add_parser("apply", help="change TTLs to the retention, the holds and the archive")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    from tailrace.migrations import expiry, retention, runner
    from tailrace.retention import archive

    if arguments.doing == "apply":
        runner.apply_retention(context.clickhouse("admin"), report=lambda line: print(f"  {line}"))
        print("the TTLs of all tables are right")
        return Exit.OK
    days = retention.load_retention()
    clickhouse = context.clickhouse(holds.ACCOUNT)
    policy = Policy(days, expiry.times(days), retention.waiting_tables(archive.tables(clickhouse)))
    chosen = arguments.frameworks or tuple(demands.frameworks())
    _print(overview.lines(clickhouse, policy, chosen), arguments.output)
    return Exit.OK


def _print(lines: list[Line], form: str) -> None:
    if form == output.JSON:
        output.write_json([_row(line) for line in lines])
    elif form == output.CSV:
        output.write_csv(KEYS["show"], [_row(line) for line in lines])
    else:
        columns = (
            "class",
            "table",
            "days",
            "too short for",
            "rows",
            "oldest (UTC)",
            "held",
            "expires next (UTC)",
        )
        console.table(columns, [_cells(line) for line in lines])
        for line in lines:
            if line.archive:
                print(console.plain(f"{line.table}: archive: {line.archive}"))
            for demand in line.unmet:
                print(f"{line.table}: {counted(line.days, 'day')}; {demand.text}. {demand.asks}")


def _row(line: Line) -> dict[str, object]:
    return {
        "table": line.table,
        "class": line.kind,
        "days": line.days,
        "demands": "; ".join(demand.text for demand in line.demands),
        "too_short_for": "; ".join(demand.text for demand in line.unmet),
        "rows": line.rows,
        "oldest": f"{line.oldest:%Y-%m-%dT%H:%M:%SZ}" if line.oldest else None,
        "held": line.held,
        "expires_next": f"{line.expires_next:%Y-%m-%dT%H:%M:%SZ}" if line.expires_next else None,
        "archive": line.archive,
    }


def _cells(line: Line) -> list[str]:
    short = ", ".join(dict.fromkeys(demand.framework for demand in line.unmet)) or "-"
    oldest = f"{line.oldest:%Y-%m-%d}" if line.oldest else "-"
    expires = f"{line.expires_next:%Y-%m-%d}" if line.expires_next else "-"
    rows = "unknown" if line.rows is None else str(line.rows)
    held = "unknown" if line.held is None else str(line.held)
    return [line.kind, line.table, str(line.days), short, rows, oldest, held, expires]
