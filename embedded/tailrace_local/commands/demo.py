"""Demonstrates Tailrace with two days of a shop: installs, starts the stack, feeds five servers' logs.

The logs are generated with times up to now and written to watch/ in the home directory. Four minutes of an
audit log are lost and repaired with `tailrace backfill`. The output ends with a link for each story;
demo/manifest.json contains the exact values of each. A second call feeds nothing again. The stack keeps
running; `tailrace down` stops it.

--samples feeds the real logs of samples/ instead, with their times moved into the last hour, each time it is
called.
"""

import argparse
import json
import sys
import time

from tailrace import console
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.clickhouse.client import ClickHouse, Row
from tailrace.clickhouse.query_files import text_of
from tailrace.console import Steps
from tailrace.dashboards.connections import ADMINISTRATOR, PASSWORD
from tailrace.demo import feed as demo_feed
from tailrace.demo.shop import files
from tailrace.demo.shop.links import Manifest
from tailrace.errors import NotRunningError
from tailrace.ledger import balance as ledger_balance
from tailrace.ledger import formatting as ledger_formatting
from tailrace.ledger.balance import LedgerBalance
from tailrace.plural import counted
from tailrace_local import demo_shop, demo_summary
from tailrace_local import kafka as local_kafka
from tailrace_local.commands import status
from tailrace_local.stack import start as stack_start
from tailrace_local.supervisor import control
from tailrace_local.supervisor.control import StackStatus

HELP = "install and start everything, feed two days of a shop, and print links to its stories"
EXAMPLES = ("tailrace demo", "tailrace demo --json", "tailrace demo --samples   # real logs of samples/")
EXIT_CODES = {0: "the ledger balances", 1: "it does not balance within --wait seconds, or a component failed"}
SEE_ALSO = ("tailrace status", "tailrace down", "docs/TOUR.md")

WAIT_SECONDS = 300

HEAVIEST = "demo_heaviest"
ALERTS = "demo_alerts"
DETECTION_SECONDS = 20
STORY_SECONDS = 90
DETECTION_POLL_SECONDS = 1
STATEMENT_WIDTH = 90


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--wait",
        type=float,
        default=WAIT_SECONDS,
        metavar="S",
        help=f"seconds to wait for each step of the logs' way to the ledger (default: {WAIT_SECONDS})",
    )
    parser.add_argument(
        "--samples", action="store_true", help="feed the real logs of samples/ instead of the shop's"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object at the end")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    steps = Steps(sys.stderr if arguments.json else sys.stdout)
    running = _is_running(context)
    if not running:
        stack_start.install(context.settings, context.home, steps.show)
    return (_samples if arguments.samples else _shop)(arguments, context, steps, running)


def _shop(arguments: argparse.Namespace, context: Context, steps: Steps, running: bool) -> Exit:
    manifest = files.load_manifest(context.home)
    written = None if manifest else demo_shop.write(context, steps)
    if running and written:
        control.take_list(context.home)
    needed = demo_shop.NEEDED if written else ()
    stack_start.start_stack(context.settings, context.home, steps.show, needed)
    fed_at = time.time()
    if written:
        manifest = demo_shop.feed(context, written, arguments.wait, steps)
        stack_start.await_health(context.home, steps.show)
    else:
        steps.show("demo", "was fed before; `make clean-data` removes it")
    return _report(arguments, context, steps, fed_at, manifest)


def _samples(arguments: argparse.Namespace, context: Context, steps: Steps, running: bool) -> Exit:
    if demo_feed.watch(context.settings, context.home) and running:
        control.take_list(context.home)
    fed = demo_feed.feed(context.home)
    fed_at = time.time()
    steps.show("demo", f"{console.size(fed.written)} of real logs written to {context.home.watch}")
    stack_start.start_stack(context.settings, context.home, steps.show)
    if control.status(context.home).component("kafka"):
        unsent = demo_feed.send(local_kafka.connect(context.settings, context.home, "traces"), fed.spans)
        steps.show("demo", f"{len(fed.spans) - unsent} traces of an application sent")
    return _report(arguments, context, steps, fed_at, None)


def _report(
    arguments: argparse.Namespace,
    context: Context,
    steps: Steps,
    fed_at: float,
    manifest: Manifest | None,
) -> Exit:
    clickhouse = context.clickhouse("reader_compliance")
    found = _balanced(clickhouse, arguments.wait, steps, fed_at)
    if control.status(context.home).component("detect"):
        _await_detection(clickhouse, manifest)
    running = control.status(context.home)
    if arguments.json:
        print(json.dumps(_summary(running, found, clickhouse, context, manifest), indent=2))
    elif manifest:
        demo_summary.show(running, found, clickhouse, context, manifest)
    else:
        _show(running, found, clickhouse, context)
    return Exit.OK if found.balances and not found.behind else Exit.FAILED


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
        now = f"{counted(entries, 'entry', 'entries')}, {counted(seen.behind, 'byte')} to go"
        if now != shown:
            shown = now
            steps.show("ledger", now)

    found = ledger_balance.balance(clickhouse, seconds, on_read=show_progress, covered_to=fed_at)
    steps.show("ledger", "the ledger balances" if found.balances else "the ledger does not balance")
    return found


def _await_detection(clickhouse: ClickHouse, manifest: Manifest | None) -> None:
    """Waits until all alerts of the manifest are there. Without a manifest, until there are alerts and their
    number is stable. Returns at the timeout, too."""
    expected = {alert["rule"] for alert in manifest["alerts"]} if manifest else set()
    deadline = time.monotonic() + (STORY_SECONDS if manifest else DETECTION_SECONDS)
    seen: list[Row] = []
    while time.monotonic() < deadline:
        found = clickhouse.rows(text_of(ALERTS))
        if found == seen and found and expected <= demo_summary.rules(clickhouse):
            return
        seen = found
        time.sleep(DETECTION_POLL_SECONDS)


def _show(running: StackStatus, found: LedgerBalance, clickhouse: ClickHouse, context: Context) -> None:
    status.show(running)
    ledger_formatting.show(found)
    console.heading("Heaviest statements")
    rows = map(_statement, clickhouse.rows(text_of(HEAVIEST)))
    console.table(("query_id", "count", "seconds", "p95", "statement"), rows, ("count", "seconds", "p95"))
    console.heading("Alerts")
    rows = map(_alert, clickhouse.rows(text_of(ALERTS)))
    console.table(("level", "times", "rule", "about"), rows, ("times",))
    demo_summary.show_addresses(running, context)


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
    running: StackStatus,
    found: LedgerBalance,
    clickhouse: ClickHouse,
    context: Context,
    manifest: Manifest | None,
) -> dict[str, object]:
    heaviest: list[Row] = clickhouse.rows(text_of(HEAVIEST))
    login = {"user": ADMINISTRATOR, "password": context.home.secret(PASSWORD)}
    story = {"manifest": manifest, "links": demo_summary.addresses(running, manifest)} if manifest else {}
    return {
        "stack": running.to_json(),
        "books": found.to_json(),
        "heaviest": heaviest,
        "alerts": clickhouse.rows(text_of(ALERTS)),
        "superset": login,
        **story,
    }
