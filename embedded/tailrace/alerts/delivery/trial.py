"""Shows or sends a sample alert to channels, so that a new alerts.yaml can be tried without an incident."""

import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from tailrace.alerts.delivery.config import Channel, DeliveryConfig
from tailrace.alerts.delivery.delivery_log import Due, Outcome
from tailrace.alerts.delivery.service import sender_of
from tailrace.alerts.link import link_path
from tailrace.clickhouse.client import Row

TITLE = "Test of a channel"


def sample(now: datetime | None = None) -> Due:
    """Returns a delivery of an alert that no rule has raised; its title and its next step say so."""
    end = now or datetime.now(UTC)
    begin = end - timedelta(minutes=5)
    entity = {"user": "tailrace_test"}
    micros = [int(each.timestamp() * 1e6) for each in (begin, end)]
    alert: Row = {
        "alert_id": str(uuid.uuid4()),
        "rule_id": str(uuid.UUID(int=0)),
        "rule_title": TITLE,
        "rule_file": "",
        "level": "informational",
        "tags": [],
        "cluster": "test",
        "instance": "test-db-1",
        "entity": entity,
        "entity_key": "user=tailrace_test",
        "event_time": _written(end),
        "window_from": _written(begin),
        "detected_at": _written(end),
        "count": 1,
        "metric": 0,
        "late": False,
        "event_ids": [],
        "statements": ["select ?"],
        "facts": {},
        "link_path": link_path(entity, TITLE, *micros),
        "user": "tailrace_test",
        "src_ip": "192.0.2.1",
        "database": "test",
        "program": "tailrace",
        "next_steps": ["None: `tailrace alerts deliver --test` has sent it."],
        "false_positives": [],
    }
    return Due(alert, 1, 0)


def selected(config: DeliveryConfig, names: Sequence[str]) -> list[Channel]:
    """Returns the channels with these names, all without names. Raises KeyError with an unknown name."""
    channels = {channel.name: channel for channel in config.channels}
    return [channels[name] for name in names] if names else list(config.channels)


def previews(channels: Sequence[Channel], dashboards: str, due: Due) -> Iterator[tuple[Channel, str]]:
    """Yields what each channel would receive, without secrets."""
    for channel in channels:
        yield channel, sender_of(channel, dashboards).preview(due)


def attempts(channels: Sequence[Channel], dashboards: str, due: Due) -> Iterator[tuple[Channel, Outcome]]:
    """Sends the alert to each channel and yields the outcome. Nothing is recorded."""
    for channel in channels:
        yield channel, sender_of(channel, dashboards).send(due)


def _written(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S.%f}"
