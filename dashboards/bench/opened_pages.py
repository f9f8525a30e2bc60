"""`make bench-pages ARGUMENTS=--opened`: elapsed times of work pages in a browser, over 10 million events.

The targets are a p95 below half a second until the server has answered, and below a second until the page is
complete. A part that loads after the page (*What is new in this range*) has no target.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dashboards.bench.percentiles import percentile
from dashboards.tests import browser
from e2e.stack import Stack
from tailrace.dashboards import connections as superset_connections
from tailrace_pages import links

ANSWERED_MS, COMPLETE_MS = 500.0, 1000.0
HERE = Path(__file__).parent
RANGES = ("24h", "90d")


@dataclass(frozen=True)
class OpenedPage:
    """The times of the openings of one page in milliseconds, and the mean CPU-seconds of each component."""

    title: str
    answered: list[float]
    complete: list[float]
    section: list[float]
    """Until a part that loads after the page was drawn; empty if the page has none."""
    cpu: dict[str, float]


def addresses(numbers: list[int], entities: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, str]]:
    """Returns title and path of each page, for a day and for 90 days.

    `numbers` are the ids of statements, `entities` pairs of kind and name.
    """
    for shown in RANGES:
        for parts, title in (
            (("alerts",), "alert inbox"),
            (("queries",), "queries"),
            *((("queries", f"{number:016X}"), f"statement {number:016X}") for number in numbers),
            *((("entities", kind, name), f"{kind} {name}") for kind, name in entities),
            (("entities",), "users and clients"),
            (("evidence",), "evidence"),
        ):
            yield f"{title}, {shown}", links.address(*parts, arguments={"range": shown})
        searched = {"q": "user:ann", "range": shown}
        yield f"search user:ann, {shown}", links.address("search", arguments=searched)
    yield "rules", "/tailrace/rules/"
    yield "setup", "/tailrace/setup/"
    yield "retention", "/tailrace/retention/"


def measure(stack: Stack, pages: list[tuple[str, str]], repeat: int) -> list[OpenedPage]:
    """Opens each page `repeat` times in Chromium, each time with ClickHouse's caches dropped."""
    groups = {component: stack.status(component).pid for component in ("clickhouse", "superset")}
    files = [stack.home.root / f"bench-pages-{name}.json" for name in ("job", "result")]
    job = {
        "pages": [{"title": title, "path": path} for title, path in pages],
        "repeat": repeat,
        "groups": groups,
    }
    files[0].write_text(json.dumps(job))
    browser.install()
    environment = {
        **os.environ,
        "SUPERSET_URL": f"http://127.0.0.1:{stack.settings.port_superset}",
        "SUPERSET_PASSWORD": stack.home.secret(superset_connections.PASSWORD),
        "CLICKHOUSE_URL": f"http://127.0.0.1:{stack.settings.port_clickhouse}",
        "CLICKHOUSE_PASSWORD": stack.home.secret("clickhouse-admin"),
    }
    subprocess.run(["node", "open_pages.mjs", *map(str, files)], cwd=HERE, env=environment, check=True)
    return [_page(**each) for each in json.loads(files[1].read_text())]


def _page(title: str, path: str, openings: list[dict]) -> OpenedPage:
    return OpenedPage(
        title,
        [each["answered"] for each in openings],
        [each["complete"] for each in openings],
        [each["section"] for each in openings if each["section"] is not None],
        {name: sum(each["cpu"][name] for each in openings) / len(openings) for name in openings[0]["cpu"]},
    )


def report(pages: list[OpenedPage]) -> int:
    """Prints a row per page. Returns 1 if a page misses a target, otherwise 0."""
    missed = 0
    print(
        "answered p50, p95   complete p50, p95   what is new p50, p95 (ms)   "
        "CPU ms of ClickHouse, Superset, browser   page"
    )
    for page in pages:
        answered, complete = _percentiles(page.answered), _percentiles(page.complete)
        cpu = "".join(f"{1000 * page.cpu[name]:7.0f}" for name in ("clickhouse", "superset", "browser"))
        is_missed = answered[1] >= ANSWERED_MS or complete[1] >= COMPLETE_MS
        missed += is_missed
        section = _percentiles(page.section) if page.section else None
        times = "   ".join(_shown(each) for each in (answered, complete, section))
        print(f"{times}   {cpu}   {page.title}{'   MISSED' if is_missed else ''}")
    print(f"{missed} of {len(pages)} pages miss a target")
    return 1 if missed else 0


def _shown(percentiles: tuple[float, float] | None) -> str:
    return "".join(f"{each:7.0f}" for each in percentiles) if percentiles else " " * 14


def _percentiles(values: list[float]) -> tuple[float, float]:
    """Returns the 50th and the 95th percentile."""
    return percentile(values, 0.5), percentile(values, 0.95)
