"""Evaluates health alerts by the rules that Prometheus gets."""

import dataclasses
from collections.abc import Iterable, Iterator

from prometheus_client.metrics_core import Metric

from e2e.stack import Stack, wait_until
from tailrace.clickhouse.client import ClickHouseError
from tailrace.health import metrics as health_metrics
from tailrace.health import rules
from tailrace_local import health


def fires(
    stack: Stack,
    alert: str,
    recent_seconds: int = health_metrics.RECENT_SECONDS,
    limit: float | None = None,
    **labels: str,
) -> bool:
    """Returns whether it fires with these labels, beyond another limit if one is given. Raises KeyError for
    an unknown alert."""
    rule = {each.name: each for each in rules.load()}[alert]
    if limit is not None:
        rule = dataclasses.replace(rule, limit=limit)
    try:
        evaluated = health.evaluated_metrics(stack.settings, stack.home, recent_seconds)
        metrics = list(_up_to(rule.metric, evaluated))
    except ClickHouseError as error:  # a starting or stopping component may respond with anything
        raise ConnectionError(error) from error
    return any(labels.items() <= dict(found.labels).items() for found in rules.firing([rule], metrics))


def _up_to(name: str, metrics: Iterable[Metric]) -> Iterator[Metric]:
    """Yields the metrics up to the one with this name, if it is one of Tailrace's, which are read one by one.

    The metrics of the jobs and of ClickHouse are read after those; they are thousands.
    """
    for metric in metrics:
        yield metric
        if metric.name == name and name.startswith("tailrace_"):
            return


def await_alert(stack: Stack, alert: str, *, limit: float | None = None, **labels: str) -> None:
    """Returns when the alert fires. `limit` replaces that of the rule, to shorten a time."""
    wait_until(lambda: fires(stack, alert, limit=limit, **labels), f"{alert} {labels} to fire")


def await_cleared(
    stack: Stack,
    alert: str,
    *,
    recent_seconds: int = health_metrics.RECENT_SECONDS,
    limit: float | None = None,
    **labels: str,
) -> None:
    """Returns when the alert no longer fires. `recent_seconds` shortens the time of recent dead letters."""
    wait_until(
        lambda: not fires(stack, alert, recent_seconds, limit, **labels),
        f"{alert} {labels} to clear",
    )
