"""Metrics of the channels of alerts.yaml, from the states that the delivery writes."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from tailrace.alerts.delivery import channel_states
from tailrace.clickhouse.client import ClickHouse
from tailrace.outputs.backoff import FAILING, UNTRIED, WORKING

STATES = (UNTRIED, WORKING, FAILING, channel_states.UNKNOWN)


def metrics_of(clickhouse: ClickHouse, now: float) -> Iterator[Metric]:
    """Yields the metrics at `now`, in seconds since 1970 UTC; no samples without channels.

    Raises ClickHouseError, OSError.
    """
    state = GaugeMetricFamily(
        "tailrace_channel_state", "1 for the state of a channel of alerts.yaml.", labels=["channel", "state"]
    )
    failing = GaugeMetricFamily(
        "tailrace_channel_failing_seconds",
        "Time for which a channel of alerts.yaml has accepted nothing.",
        labels=["channel"],
    )
    for channel in channel_states.load(clickhouse):
        for each in STATES:
            state.add_metric([channel.name, each], each == channel.state)
        if channel.state in (FAILING, WORKING):
            seconds = max(0.0, now - channel.since) if channel.state == FAILING else 0.0
            failing.add_metric([channel.name], seconds)
    yield state
    yield failing
