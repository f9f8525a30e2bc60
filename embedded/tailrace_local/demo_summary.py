"""Prints the results of the demo: what was read, the alerts, and a link for each story."""

from collections import Counter

from tailrace import console
from tailrace.cli.context import Context
from tailrace.clickhouse.client import ClickHouse
from tailrace.dashboards.connections import ADMINISTRATOR, PASSWORD
from tailrace.demo.shop.links import Manifest, links, overviews
from tailrace.ledger.balance import LedgerBalance
from tailrace_local.components.superset import logins
from tailrace_local.supervisor.control import StackStatus

LEVELS = "SELECT rule_title, level, count() AS alerts FROM tailrace.alerts FINAL GROUP BY rule_title, level"
ORDER = ("critical", "high", "medium", "low", "informational")


def rules(clickhouse: ClickHouse) -> set[str]:
    """Returns the titles of the rules that have raised an alert."""
    return {row["rule_title"] for row in clickhouse.rows(LEVELS)}


def show(
    running: StackStatus, found: LedgerBalance, clickhouse: ClickHouse, context: Context, manifest: Manifest
) -> None:
    """Prints the summary of the two days of the shop."""
    console.heading("Two days of a shop")
    entries, spans = console.count(manifest["total_entries"]), console.count(manifest["spans"])
    period = f"{_minute(manifest['from'])} to {_minute(manifest['to'])} UTC"
    print(f"  {entries} log entries and {spans} spans, {period}")
    print(f"  ledger: {_ledger(found)}")
    print(f"  alerts: {_alerts(clickhouse)}")
    console.heading(f"Five stories of {manifest['story_day']}")
    for number, link in enumerate(addresses(running, manifest), 1):
        print(
            f"  {number}. {console.styled(link['title'], console.BOLD)}: {link['text']}\n     {link['url']}\n"
        )
    console.heading("The whole day in dashboards")
    print("  From the menu a dashboard shows the last 24 hours. These begin with the day of the stories:")
    for audience, url in overviews(manifest).items():
        print(f"  {audience:<14} {_host(running)}{url}")
    show_addresses(running, context)


def addresses(running: StackStatus, manifest: Manifest) -> list[dict[str, str]]:
    """Returns the links with the address of this stack's Superset; without Superset, paths."""
    host = _host(running)
    return [
        {"story": link.story, "title": link.title, "text": link.text, "url": f"{host}{link.url}"}
        for link in links(manifest)
    ]


def _host(running: StackStatus) -> str:
    superset = running.component("superset")
    return superset.address if superset else ""


def show_addresses(running: StackStatus, context: Context) -> None:
    """Prints the addresses of the stack and its logins."""
    console.heading("Where to continue")
    if superset := running.component("superset"):
        password = context.home.secret(PASSWORD)
        print(f"  dashboards     {superset.address}   user {ADMINISTRATOR}, password {password}")
        print(f"                 {logins(context.home)}")
    if flink := running.component("flink"):
        print(f"  Flink jobs     {flink.address}   normalize: reads the logs")
    if detect := running.component("detect"):
        print(f"                 {detect.address}   detect: evaluates the rules")
    print(
        "  commands       tailrace status, tailrace ledger, tailrace alerts list, tailrace logs -f;"
        " tailrace down stops everything"
    )


def _ledger(found: LedgerBalance) -> str:
    entries = sum(account.entries for account in found.accounts)
    state = "balances" if found.balances else "does not balance"
    missing = console.number(found.gaps, "open gap") if found.gaps else "no byte is missing"
    # The last message of an error log is an entry when the log's next line arrives.
    pending = sum(account.pending for account in found.accounts)
    waiting = f", {console.size(pending)} pending" if pending else ""
    logs = console.number(found.accounts, "log")
    return f"{state}: {console.count(entries)} entries of {logs}{waiting}, {missing}"


def _alerts(clickhouse: ClickHouse) -> str:
    levels: Counter[str] = Counter()
    for row in clickhouse.rows(LEVELS):
        levels[row["level"]] += row["alerts"]
    counted = ", ".join(f"{levels[level]} {level}" for level in ORDER if levels[level])
    return f"{levels.total()} ({counted})" if levels else "none"


def _minute(text: str) -> str:
    return text[:16].replace("T", " ")
