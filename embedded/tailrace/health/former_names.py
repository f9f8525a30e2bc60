"""Former names of Tailrace's metrics, which are exported beside the present names for one release.

Delete this module, the label `part` of alerts.yaml and the class RenamedMetrics of the jobs in the release
after the first one with the present names. docs/METRICS.md lists the names of both.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from prometheus_client.metrics_core import Metric

FORMER_METRICS: Mapping[str, str] = MappingProxyType(
    {
        "tailrace_component_up": "tailrace_part_up",
        "tailrace_component_restarts": "tailrace_part_restarts",
        "tailrace_component_resident_memory_bytes": "tailrace_part_resident_memory_bytes",
        "tailrace_component_cpu_seconds": "tailrace_part_cpu_seconds",
        "tailrace_component_disk_free_bytes": "tailrace_part_disk_free_bytes",
        "tailrace_component_disk_free_ratio": "tailrace_part_disk_free_ratio",
        "tailrace_ledger_up": "tailrace_books_up",
        "tailrace_ledger_imbalances": "tailrace_imbalances",
        "tailrace_census_missing_seconds": "tailrace_unknown_seconds",
        "tailrace_source_removed_timestamp_seconds": "tailrace_unwatched_since_seconds",
    }
)
"""By the present name of a family. Samples of a counter have `_total` in addition."""
FORMER_LABELS: Mapping[str, str] = MappingProxyType({"component": "part"})


def with_former_names(metrics: Iterable[Metric]) -> Iterator[Metric]:
    """Yields each metric, and after a renamed one the same samples under its former name and labels."""
    for metric in metrics:
        yield metric
        if former := FORMER_METRICS.get(metric.name):
            yield _renamed(metric, former)


def _renamed(metric: Metric, former: str) -> Metric:
    text = f"Deprecated name of {metric.name}; release 0.3.0 removes it."
    renamed = Metric(former, text, metric.type)
    for sample in metric.samples:
        labels = {FORMER_LABELS.get(label, label): value for label, value in sample.labels.items()}
        renamed.add_sample(former + sample.name.removeprefix(metric.name), labels, sample.value)
    return renamed
