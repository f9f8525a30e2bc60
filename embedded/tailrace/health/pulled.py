"""Metrics of logs that the puller reads from a service (docs/PULL.md)."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from tailrace.sources import pulled_logs
from tailrace.sources.pulled_logs import PulledLogState

LABELS = ("instance", "source", "log")
CREDENTIALS = "valid credentials"
"""The label `right` if no action is missing from the policy, but the credentials are refused or absent."""


def metrics_of_heartbeat(heartbeat: Path) -> Iterator[Metric]:
    """Yields the metrics of the logs in a heartbeat file; no samples if there is no file."""
    return metrics_of(pulled_logs.read(heartbeat), time.time())


def metrics_of(logs: Iterable[PulledLogState], now: float) -> Iterator[Metric]:
    """Yields the metrics of logs at `now`, in seconds since 1970 UTC. Unknown values have no sample."""
    unread = GaugeMetricFamily(
        "tailrace_pull_unread_seconds",
        "Time since the log was last read from its service, or since the start of the puller.",
        labels=LABELS,
    )
    missing = GaugeMetricFamily(
        "tailrace_pull_permission_missing",
        "1 if the service refuses to show the log; the label names the missing permission.",
        labels=[*LABELS, "right"],
    )
    requests = CounterMetricFamily(
        "tailrace_pull_requests", "Requests to the service, and their repetitions.", labels=LABELS
    )
    received = CounterMetricFamily(
        "tailrace_pull_received_bytes", "Bytes of the answers of the service.", labels=LABELS
    )
    for log in logs:
        labels = [log.instance, log.source, log.log]
        if log.requests is not None:
            requests.add_metric(labels, log.requests)
        if log.received is not None:
            received.add_metric(labels, log.received)
        if (seconds := log.unread_seconds(now)) is not None:
            unread.add_metric(labels, seconds)
        if log.kind == "permission":
            missing.add_metric([*labels, log.right or CREDENTIALS], 1)
    return iter((unread, missing, requests, received))
