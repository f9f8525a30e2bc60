"""Metrics of the transparency log (docs/TRANSPARENCY.md)."""

import time
from collections.abc import Iterator
from pathlib import Path

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from tailrace.transparency import status
from tailrace.transparency.status import NoLogError


def metrics_of(directory: Path) -> Iterator[Metric]:
    """Yields the metrics of the log; none if there is no log. Unknown values have no sample."""
    try:
        found = status.read(directory)
    except NoLogError:
        return
    yield GaugeMetricFamily(
        "tailrace_transparency_leaves", "Leaves of the transparency log.", value=found.size
    )
    age = GaugeMetricFamily(
        "tailrace_transparency_checkpoint_age_seconds",
        "Time since a checkpoint of the transparency log was published.",
    )
    if found.published_at is not None:
        age.add_metric([], max(0.0, time.time() - found.published_at))
    yield age
    yield GaugeMetricFamily(
        "tailrace_transparency_incidents",
        "Refusals of witnesses and rollbacks that no operator has acknowledged.",
        value=len(found.open_incidents()),
    )
