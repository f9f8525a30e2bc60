"""Finds out from the last messages of a topic whether it has the records of a log."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tailrace_pull.object_records import Undecodable
from tailrace_pull.otlp_logs import Attributes, message_of, records_of
from tailrace_pull.topic_reading import Bounds, Topic

MESSAGES = 20
"""How many of the last messages of each partition are read."""
MAX_VALUES = 5
"""How many values of an attribute a message names."""


@dataclass
class Sample:
    """What the last messages contain."""

    wanted: Attributes
    records: int = 0
    selected: int = 0
    """Records of the log."""
    lines: int = 0
    """Of these, records with a single line."""
    unreadable: Counter[str] = field(default_factory=Counter)
    """Of these, records that become gaps, and messages that cannot be decoded, by reason."""
    events: Counter[str] = field(default_factory=Counter)
    """Records of other logs that are named events, by name."""
    values: dict[str, Counter[str]] = field(default_factory=dict)
    """Values of each attribute of the conditions."""

    def add(self, value: bytes) -> None:
        """Adds a message."""
        try:
            message = message_of(value)
        except ValueError as error:
            self.unreadable[str(error)] += 1
            return
        for record in records_of(message):
            self.records += 1
            for name, _ in self.wanted.conditions:
                if name in record.attributes:
                    self.values.setdefault(name, Counter())[record.attributes[name]] += 1
            if not self.wanted.match(record.attributes):
                self.events.update([record.event] if record.event else [])
                continue
            self.selected += 1
            found = record.decoded()
            if isinstance(found, Undecodable):
                self.unreadable[found.reason] += 1
            else:
                self.lines += found.entry.count(b"\n") == 1

    def found_attributes(self) -> str:
        """Returns which values the attributes of the conditions have, for a message."""
        return "; ".join(
            f"{name} is {named(self.values[name])}" if name in self.values else f"no record has {name}"
            for name, _ in self.wanted.conditions
        )


def named(counted: Counter[str]) -> str:
    """Returns the most frequent values with their numbers."""
    more = ", …" if len(counted) > MAX_VALUES else ""
    return ", ".join(f"{value[:80]} ({number})" for value, number in counted.most_common(MAX_VALUES)) + more


def sample(topic: Topic, bounds: Mapping[int, Bounds], wanted: Attributes) -> Sample:
    """Reads the last messages. Raises RemoteError."""
    ends = {partition: each.end for partition, each in bounds.items()}
    begins = {partition: max(each.first, each.end - MESSAGES) for partition, each in bounds.items()}
    return of_messages((fetched.value for fetched in topic.read(begins, ends)), wanted)


def of_messages(values: Iterable[bytes], wanted: Attributes) -> Sample:
    found = Sample(wanted)
    for value in values:
        found.add(value)
    return found
