"""`make bench-dashboards`: dashboards over 10 million events of 90 days, at the default range and 90 days.

Exit code 1 if the p95 of a chart reaches one second or a dashboard opened by its address four, or a chart
fails.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import quote

from dashboards.bench.fill import DAYS, fill
from dashboards.bench.percentiles import percentile
from dashboards.tests import browser
from e2e.stack import Stack
from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.dashboards import asset_files
from tailrace.dashboards import connections as superset_connections

FIRST_PORT = int(os.environ.get("BROWSER_FIRST_PORT", "21280"))
CHART_SECONDS = 1.0
DASHBOARD_SECONDS = 4.0
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Work:
    """The cost of one query of a chart in ClickHouse."""

    rows: int
    megabytes: float
    cpu_seconds: float


def main() -> int:
    arguments = _arguments()
    home = arguments.home or Path(mkdtemp(prefix="tailrace-bench-")) / "home"
    stack = Stack(home, FIRST_PORT, components=("clickhouse", "superset"), few_rows=False)
    stack.up()
    try:
        admin = stack.clickhouse()
        if not admin.rows("SELECT 1 FROM tailrace.query_events LIMIT 1"):
            fill(admin, arguments.events, datetime.now(UTC), _say)
        return _report(_measured(stack, arguments), admin)
    finally:
        if not arguments.home:
            stack.down()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-dashboards", description=__doc__)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=10, help="how often each chart asks")
    parser.add_argument("--only", nargs="*", help="slugs of dashboards; default all")
    parser.add_argument("--own-range", action="store_true", help="not at 90 days")
    parser.add_argument("--home", type=Path, help="keeps the stack and its data there, and uses them again")
    return parser.parse_args()


def _measured(stack: Stack, arguments: argparse.Namespace) -> list[dict]:
    titles = {
        asset.content["slug"]: asset.content["dashboard_title"]
        for asset in asset_files.load()
        if asset.kind == "dashboards"
    }
    chosen = [slug for slug in titles if not arguments.only or slug in arguments.only]
    openings = [each for slug in chosen for each in _openings(slug, titles[slug], arguments.own_range)]
    groups = {component: stack.status(component).pid for component in ("clickhouse", "superset")}
    files = [stack.home.root / f"bench-{name}.json" for name in ("job", "result")]
    cache = str(stack.home.data("superset") / "data-cache")
    job = {"repeat": arguments.repeat, "groups": groups, "cache": cache, "dashboards": openings}
    files[0].write_text(json.dumps(job))
    browser.install()
    environment = {
        **os.environ,
        "SUPERSET_URL": f"http://127.0.0.1:{stack.settings.port_superset}",
        "SUPERSET_PASSWORD": stack.home.secret(superset_connections.PASSWORD),
    }
    subprocess.run(["node", "open_dashboards.mjs", *map(str, files)], cwd=HERE, env=environment, check=True)
    return json.loads(files[1].read_text())


def _openings(slug: str, title: str, own_range: bool) -> Iterator[dict]:
    """Measures the default range of the dashboard and, unless that is sufficient, all filled days."""
    path = f"/superset/dashboard/{slug}/"
    yield {"slug": slug, "title": title, "range": "its own", "path": path, "listed": True}
    if own_range:
        return
    now = datetime.now(UTC)
    shown = f"{now - timedelta(days=DAYS):%Y-%m-%dT%H:%M:%S} : {now:%Y-%m-%dT%H:%M:%S}"
    chosen = (
        f"(NATIVE_FILTER-time-range:(extraFormData:(time_range:'{shown}'),filterState:(value:'{shown}'),"
        "id:NATIVE_FILTER-time-range,ownState:()))"
    )
    path += f"?native_filters={quote(chosen)}"
    yield {"slug": slug, "title": title, "range": f"{DAYS} days", "path": path, "listed": False}


def _report(results: list[dict], admin: ClickHouse) -> int:
    """Prints a table per dashboard. Returns 1 if a chart or dashboard is too slow or failed."""
    complaints = []
    for result in results:
        where = f"{result['slug']}, {result['range']}"
        drawn = _middle(result["drawn"]) / 1000
        in_sight = _middle(result["glanced"]) / 1000
        print(f"\n{where}: drawn in {drawn:.1f} s (in sight {in_sight:.1f} s), {_cpu(result['cpu'])}")
        if result["clicked"]:
            clicked = _middle(result["clicked"]) / 1000
            print(f"{where}: from the list in {clicked:.1f} s, {_cpu(result['clickedCpu'])}")
        print("   p50 s   p95 s    rows read      MB   CPU s  chart")
        if drawn >= DASHBOARD_SECONDS:
            complaints.append(f"{where}: drawn in {drawn:.1f} s")
        complaints += [f"{where}: cut off: {what}" for what in result["cutOff"]]
        for chart in result["charts"]:
            complaints += [f"{where}: {problem}" for problem in _reported(chart, admin)]
    print(f"\nload of the machine: {os.getloadavg()[0]:.1f}")
    for complaint in complaints:
        print(f"too slow, or wrong: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


def _cpu(openings: list[dict[str, float]]) -> str:
    spent = {name: _middle([each[name] for each in openings]) for name in openings[0]}
    return f"of CPU {sum(spent.values()):.1f} s ({', '.join(f'{n} {s:.1f}' for n, s in spent.items())})"


def _reported(chart: dict, admin: ClickHouse) -> Iterator[str]:
    middle, high = percentile(chart["seconds"], 0.5), percentile(chart["seconds"], 0.95)
    work = _work(admin, chart["queries"])
    measured = f"{middle:8.2f}{high:8.2f}{work.rows:13,}{work.megabytes:8.0f}{work.cpu_seconds:8.2f}"
    print(f"{measured}  {chart['title']}")
    if high >= CHART_SECONDS:
        yield f"{chart['title']}: p95 {high:.2f} s ({work.cpu_seconds:.2f} CPU s, {work.rows:,} rows)"
    if chart.get("error"):
        yield f"{chart['title']}: {chart['error']}"


def _middle(values: list[float]) -> float:
    return percentile(values, 0.5)


def _work(admin: ClickHouse, queries: list[str]) -> Work:
    """Runs the SQL of a chart alone. The CPU time is that of the server, which otherwise only merges."""
    before, begun = _events(admin), time.monotonic()
    for query in queries:
        try:
            admin.execute(f"SELECT * FROM ({query.rstrip().rstrip(';')}) FORMAT Null")
        except ClickHouseError as error:
            _say(f"not measured by itself: {error}")
    after = _events(admin)
    delta = {name: after.get(name, 0) - before.get(name, 0) for name in after}
    return Work(
        rows=int(delta.get("SelectedRows", 0)),
        megabytes=delta.get("SelectedBytes", 0) / 1e6,
        cpu_seconds=min(delta.get("OSCPUVirtualTimeMicroseconds", 0) / 1e6, 8 * (time.monotonic() - begun)),
    )


def _events(admin: ClickHouse) -> dict[str, float]:
    rows = admin.rows(
        "SELECT event, value FROM system.events "
        "WHERE event IN ('SelectedRows', 'SelectedBytes', 'OSCPUVirtualTimeMicroseconds')"
    )
    return {row["event"]: float(row["value"]) for row in rows}


def _say(doing: str) -> None:
    print(doing, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
