"""The metrics of the stack on this machine: Tailrace's own, and those of its parts."""

from collections.abc import Iterable, Iterator
from functools import partial

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from tailrace import accounts, listing
from tailrace.clickhouse import ClickHouseError
from tailrace.health import facts
from tailrace.home import Home
from tailrace.parts import census
from tailrace.parts.detect import Detect
from tailrace.parts.flink import Flink
from tailrace.settings import Settings
from tailrace.stack import control
from tailrace.stack.assembly import assemble

ACCOUNT = "reader_compliance"
JOBS = (Flink, Detect)
WITH_METRICS = ("fluentbit", "kafka", "flink", "detect", "clickhouse")
"""Parts that tell more of themselves than the supervisor knows."""

JUDGED = (*(job.name for job in JOBS), "clickhouse")


def own(settings: Settings, home: Home, recent_seconds: int = facts.RECENT_SECONDS) -> Iterator[Metric]:
    """Tailrace's own. Raises NotRunningError."""
    status = control.status(home)
    yield from facts.of_parts(status, home)
    jobs = [job(settings, home) for job in JOBS if status.part(job.name)]
    yield from facts.of_jobs({job.name: partial(job.ask, seconds=facts.REST_SECONDS) for job in jobs})
    clickhouse = accounts.connect(settings, home, ACCOUNT)
    listed = listing.taken(home).since
    yield from facts.of_books(clickhouse, recent_seconds, census.left(home), listed)


def of_part(settings: Settings, home: Home, name: str) -> str:
    """A part's own, in Prometheus' text format. Raises KeyError if it has none, OSError, ClickHouseError."""
    parts = {part.name: part for part in assemble(settings, home) if part.name in WITH_METRICS}
    return parts[name].metrics()


def judged(settings: Settings, home: Home, recent_seconds: int = facts.RECENT_SECONDS) -> Iterable[Metric]:
    """What alerts.yaml asks about: Tailrace's own, the jobs' and ClickHouse's. A part that does not answer
    is told by Tailrace's own. Raises NotRunningError."""
    yield from own(settings, home, recent_seconds)
    for name in JUDGED:
        try:
            yield from text_string_to_metric_families(of_part(settings, home, name))
        except (KeyError, OSError, ClickHouseError):
            continue
