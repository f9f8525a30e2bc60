"""Demonstrates Tailrace on real logs: installs, starts the stack, feeds samples/ and prints the results.

The logs of samples/ are written to watch/ in the home directory with their times moved into the last hour.
When the ledger balances, a summary is printed. The stack keeps running; `tailrace down` stops it.
"""

import argparse
import json
import sys
import time

from tailrace.cli import console
from tailrace.cli.console import Steps
from tailrace.cli.context import Context, NotRunningError
from tailrace.cli.exit_codes import Exit
from tailrace.clickhouse.client import ClickHouse, Row
from tailrace.config.resources import ROOT
from tailrace.dashboards.connections import ADMINISTRATOR, PASSWORD
from tailrace.demo import feed as demo_feed
from tailrace.ledger import balance as ledger_balance
from tailrace.ledger import formatting as ledger_formatting
from tailrace.ledger.balance import LedgerBalance
from tailrace_local import kafka as local_kafka
from tailrace_local.commands import status
from tailrace_local.components.superset import logins
from tailrace_local.supervisor import control
from tailrace_local.supervisor import start as stack_start
from tailrace_local.supervisor.control import StackStatus

HELP = "install and start everything, feed real logs, and print the results"
EXAMPLES = ("tailrace demo", "tailrace demo --json")
EXIT_CODES = {0: "the ledger balances", 1: "it does not balance within --wait seconds, or a component failed"}
SEE_ALSO = ("tailrace status", "tailrace down", "docs/tutorials/slow-log.md")

WAIT_SECONDS = 120

HEAVIEST = ROOT / "sql" / "queries" / "demo_heaviest.sql"
ALERTS = ROOT / "sql" / "queries" / "demo_alerts.sql"
DETECTION_SECONDS = 20
DETECTION_LOOK_SECONDS = 1
STATEMENT_WIDTH = 90


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--wait",
        type=float,
        default=WAIT_SECONDS,
        metavar="S",
        help=f"seconds to wait for the ledger (default: {WAIT_SECONDS})",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object at the end")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    steps = Steps(sys.stderr if arguments.json else sys.stdout)
    if _is_running(context):
        _watch(context)
    else:
        stack_start.install(context.settings, context.home, steps.show)
        demo_feed.watch(context.settings, context.home)
    fed = demo_feed.feed(context.home)
    fed_at = time.time()
    steps.show("demo", f"{console.size(fed.written)} of real logs written to {context.home.watch}")
    stack_start.start_stack(context.settings, context.home, steps.show)
    if control.status(context.home).component("kafka"):
        unsent = demo_feed.send(local_kafka.connect(context.settings, context.home, "traces"), fed.spans)
        steps.show("demo", f"{len(fed.spans) - unsent} traces of an application sent")
    return _report(arguments, context, steps, fed_at)


def _report(arguments: argparse.Namespace, context: Context, steps: Steps, fed_at: float) -> Exit:
    clickhouse = context.clickhouse("reader_compliance")
    found = _balanced(clickhouse, arguments.wait, steps, fed_at)
    running = control.status(context.home)
    if running.component("detect"):
        _await_detection(clickhouse)
    if arguments.json:
        print(json.dumps(_summary(running, found, clickhouse, context), indent=2))
    else:
        _show(running, found, clickhouse, context)
    return Exit.OK if found.balances and not found.behind else Exit.FAILED


def _watch(context: Context) -> None:
    """Makes the running collectors also watch the demo's logs."""
    if demo_feed.watch(context.settings, context.home):
        control.take_list(context.home)


def _is_running(context: Context) -> bool:
    try:
        control.status(context.home)
    except NotRunningError:
        return False
    return True


def _balanced(clickhouse: ClickHouse, seconds: float, steps: Steps, fed_at: float) -> LedgerBalance:
    """Returns the ledger when it balances, and prints the progress."""
    shown = ""

    def show_progress(seen: LedgerBalance) -> None:
        nonlocal shown
        entries = sum(account.entries for account in seen.accounts)
        now = f"{console.count(entries)} entries, {console.count(seen.behind)} bytes to go"
        if now != shown:
            shown = now
            steps.show("ledger", now)

    found = ledger_balance.balance(clickhouse, seconds, on_read=show_progress, covered_to=fed_at)
    steps.show("ledger", "the ledger balances" if found.balances else "the ledger does not balance")
    return found


def _await_detection(clickhouse: ClickHouse) -> None:
    """Waits until there are alerts and their number is stable; without alerts until the timeout."""
    deadline = time.monotonic() + DETECTION_SECONDS
    seen: list[Row] = []
    while time.monotonic() < deadline:
        found = clickhouse.rows(ALERTS.read_text())
        if found and found == seen:
            return
        seen = found
        time.sleep(DETECTION_LOOK_SECONDS)


def _show(running: StackStatus, found: LedgerBalance, clickhouse: ClickHouse, context: Context) -> None:
    status.show(running)
    ledger_formatting.show(found)
    console.heading("Heaviest statements")
    rows = map(_statement, clickhouse.rows(HEAVIEST.read_text()))
    console.table(("query_id", "count", "seconds", "p95", "statement"), rows, ("count", "seconds", "p95"))
    console.heading("Alerts")
    rows = map(_alert, clickhouse.rows(ALERTS.read_text()))
    console.table(("level", "times", "rule", "about"), rows, ("times",))
    console.heading("Where to continue")
    if superset := running.component("superset"):
        password = context.home.secret(PASSWORD)
        print(f"  dashboards     {superset.address}   user {ADMINISTRATOR}, password {password}")
        print(f"                 {logins(context.home)}")
    if flink := running.component("flink"):
        print(f"  the Flink jobs {flink.address} reads logs")
    if detect := running.component("detect"):
        print(f"                 {detect.address} detects")
    print(
        "  commands       tailrace status, tailrace ledger, tailrace alerts list, tailrace logs -f;"
        " tailrace down stops everything"
    )


def _statement(row: Row) -> tuple[str, ...]:
    return (
        row["query_id"],
        console.count(row["entries"]),
        f"{row['total_seconds']:.1f}",
        f"{row['p95_seconds']:.3f}",
        row["fingerprint"][:STATEMENT_WIDTH],
    )


def _alert(row: Row) -> tuple[str, ...]:
    return (row["level"], console.count(row["times"]), row["title"], row["about"][:STATEMENT_WIDTH])


def _summary(
    running: StackStatus, found: LedgerBalance, clickhouse: ClickHouse, context: Context
) -> dict[str, object]:
    heaviest: list[Row] = clickhouse.rows(HEAVIEST.read_text())
    login = {"user": ADMINISTRATOR, "password": context.home.secret(PASSWORD)}
    return {
        "stack": running.to_json(),
        "books": found.to_json(),
        "heaviest": heaviest,
        "alerts": clickhouse.rows(ALERTS.read_text()),
        "superset": login,
    }
