"""The metrics of the stack on this machine: those of Tailrace, and those of its components.

`python -m tailrace_local.health --listen HOST:PORT` serves Tailrace's metrics at /metrics and those of a
component at /metrics/<component>.
"""

import argparse
import shutil
import sys
from collections.abc import Iterable, Iterator
from functools import partial

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from tailrace.clickhouse.client import ClickHouseError
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.health import exporter, pulled, transparency
from tailrace.health import metrics as health_metrics
from tailrace.programs import census as census_program
from tailrace.programs.pull import PullProgram
from tailrace.sources import active_sources
from tailrace.transparency import keys as transparency_keys
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local.components.detect import Detect
from tailrace_local.components.flink import Flink
from tailrace_local.stack.assembly import assemble
from tailrace_local.supervisor import control
from tailrace_local.supervisor.control import StackStatus

ACCOUNT = "reader_compliance"
JOBS = (Flink, Detect)
WITH_METRICS = ("fluentbit", "kafka", "flink", "detect", "clickhouse")
"""Components with additional metrics."""

EVALUATED = (*(job.name for job in JOBS), "clickhouse")


def own_metrics(
    settings: Settings, home: Home, recent_seconds: int = health_metrics.RECENT_SECONDS
) -> Iterator[Metric]:
    """Yields Tailrace's metrics. Raises NotRunningError."""
    status = control.status(home)
    yield from supervisor_metrics(status, home)
    jobs = [job(settings, home) for job in JOBS if status.component(job.name)]
    yield from health_metrics.job_metrics(
        {job.name: partial(job.ask, seconds=health_metrics.REST_SECONDS) for job in jobs}
    )
    yield from pulled.metrics_of_heartbeat(PullProgram(settings, home).heartbeat())
    yield from transparency.metrics_of(transparency_keys.directory(home))
    clickhouse = local_clickhouse.connect(settings, home, ACCOUNT)
    listed = active_sources.active(home).since
    yield from health_metrics.ledger_metrics(clickhouse, recent_seconds, census_program.left(home), listed)


def supervisor_metrics(status: StackStatus, home: Home) -> Iterator[Metric]:
    """Yields the supervisor's metrics of its components."""
    up = GaugeMetricFamily("tailrace_component_up", "Whether the component is healthy.", labels=["component"])
    restarts = CounterMetricFamily(
        "tailrace_component_restarts", "Restarts after a crash.", labels=["component"]
    )
    recent = GaugeMetricFamily(
        "tailrace_component_recent_restarts",
        "Restarts after a crash in the last ten minutes.",
        labels=["component"],
    )
    memory = GaugeMetricFamily(
        "tailrace_component_resident_memory_bytes", "Memory of all its processes.", labels=["component"]
    )
    cpu = CounterMetricFamily(
        "tailrace_component_cpu_seconds", "CPU time of its present processes.", labels=["component"]
    )
    free = GaugeMetricFamily(
        "tailrace_component_disk_free_bytes", "Free space on the disk of its data.", labels=["component"]
    )
    ratio = GaugeMetricFamily(
        "tailrace_component_disk_free_ratio", "Free share of the disk of its data.", labels=["component"]
    )
    for component in status.components:
        disk = shutil.disk_usage(home.data(component.name))
        up.add_metric([component.name], component.is_healthy)
        restarts.add_metric([component.name], component.restarts)
        recent.add_metric([component.name], component.recent_restarts)
        memory.add_metric([component.name], component.rss_bytes)
        cpu.add_metric([component.name], component.cpu_seconds)
        free.add_metric([component.name], disk.free)
        ratio.add_metric([component.name], disk.free / disk.total)
    return iter((up, restarts, recent, memory, cpu, free, ratio))


def component_metrics(settings: Settings, home: Home, name: str) -> str:
    """Returns a component's metrics in Prometheus' text format. Raises KeyError if it has none, OSError,
    ClickHouseError."""
    components = {
        component.name: component for component in assemble(settings, home) if component.name in WITH_METRICS
    }
    return components[name].metrics()


def evaluated_metrics(
    settings: Settings, home: Home, recent_seconds: int = health_metrics.RECENT_SECONDS
) -> Iterable[Metric]:
    """Yields the metrics that alerts.yaml uses: those of Tailrace, the jobs and ClickHouse. Tailrace's
    metrics show components that do not respond. Raises NotRunningError."""
    yield from own_metrics(settings, home, recent_seconds)
    for name in EVALUATED:
        try:
            yield from text_string_to_metric_families(component_metrics(settings, home, name))
        except (KeyError, OSError, ClickHouseError):
            continue


def _read(settings: Settings, home: Home, path: str) -> str:
    if path == exporter.PATH:
        return exporter.text(own_metrics(settings, home))
    return component_metrics(settings, home, path.removeprefix(f"{exporter.PATH}/"))


def main() -> int:
    """Serves the metrics of the stack in TAILRACE_HOME until SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m tailrace_local.health")
    parser.add_argument("--listen", required=True, metavar="HOST:PORT")
    listen = parser.parse_args().listen
    settings = Settings.from_environment()
    exporter.serve(listen, partial(_read, settings, Home(settings.home)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
