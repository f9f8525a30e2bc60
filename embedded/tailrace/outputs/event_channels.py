"""The section `events` of alerts.yaml: which events a channel receives, and how.

events:
  - channel: search            # the name of a channel whose kind takes batches
    kinds: [login, data_access]
    format: ecs
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailrace.config import yaml_reader
from tailrace.config.yaml_reader import Section
from tailrace.outputs.config import ReceiverConfig

LOGIN, QUERY, DATA_ACCESS, ERROR, SERVER = "login", "query", "data_access", "error", "server"
KINDS = (LOGIN, QUERY, DATA_ACCESS, ERROR, SERVER)
"""login: a login, refused or not, or its end. data_access: a statement with known tables. query: any other
statement or command. error: a message of an error log. server: the beginning or the end of an audit log."""
NOW, EARLIEST = "now", "earliest"


@dataclass(frozen=True, kw_only=True)
class EventChannel:
    """The events that a channel receives. Times in seconds."""

    name: str
    receiver: ReceiverConfig
    kinds: Sequence[str]
    format: str
    begins: str = NOW
    """Where a new channel begins: now, or earliest: with the oldest event of the topic."""
    batch_events: int = 2000
    batch_interval: int = 1
    """The time after which a smaller batch is sent."""
    parallel: int = 4
    """Batches that wait for an answer at the same time."""
    processes: int = 1
    """Processes that share the partitions of the topic."""
    retry_initial: int = 1
    retry_max: int = 60


def read(section: Section, receivers: Mapping[str, ReceiverConfig]) -> EventChannel:
    """Returns the channel of a section. `receivers` by the names of channels. Raises ConfigurationError."""
    name = section.need("channel", yaml_reader.name)
    if name not in receivers:
        known = ", ".join(receivers) or "none"
        raise section.mistake(
            f"`channel`: {name!r} is no channel for events; channels for events in this file: {known}",
            "channel",
        )
    receiver = receivers[name]
    found = EventChannel(
        name=name,
        receiver=receiver,
        kinds=section.take("kinds", _kinds, KINDS),
        format=section.take("format", yaml_reader.one_of(*receiver.formats), receiver.formats[0]),
        begins=section.take("from", yaml_reader.one_of(NOW, EARLIEST), EventChannel.begins),
        batch_events=section.take("batch_events", yaml_reader.number(1, 50_000), EventChannel.batch_events),
        batch_interval=section.take("batch_interval", yaml_reader.span, EventChannel.batch_interval),
        parallel=section.take("parallel", yaml_reader.number(1, 32), EventChannel.parallel),
        processes=section.take("processes", yaml_reader.number(1, 16), EventChannel.processes),
        retry_initial=section.take("retry_initial", yaml_reader.span, EventChannel.retry_initial),
        retry_max=section.take("retry_max", yaml_reader.span, EventChannel.retry_max),
    )
    section.close()
    return found


def _kinds(value: object) -> list[str]:
    reader = yaml_reader.one_of(*KINDS)
    return [reader(each) for each in yaml_reader.texts(value)]
