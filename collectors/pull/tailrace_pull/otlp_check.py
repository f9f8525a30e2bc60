"""Finds out from the last messages of a topic whether it has the records of a log."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tailrace_pull import performance_schema
from tailrace_pull.object_records import Undecodable
from tailrace_pull.otlp_logs import Attributes, Record, message_of, records_of
from tailrace_pull.topic_reading import Bounds, Topic

MESSAGES = 20
"""How many of the last messages of each partition are read."""
MAX_VALUES = 5
"""How many values of an attribute a message names."""


@dataclass
class Sample:
    """What the last messages contain."""

    wanted: Attributes
    is_of_records: bool = False
    """Whether the log has records from Performance Schema in place of lines."""
    records: int = 0
    selected: int = 0
    """Records of the log."""
    lines: int = 0
    """Of these, records with a single line."""
    unreadable: Counter[str] = field(default_factory=Counter)
    """Of these, records that become gaps, and messages that cannot be decoded, by reason."""
    used: Counter[str] = field(default_factory=Counter)
    """Of these, records from Performance Schema that are used, by kind."""
    ignored: Counter[str] = field(default_factory=Counter)
    """Of these, records from Performance Schema that are only counted, by reason."""
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
            if self.is_of_records:
                self._add_record(record)
            else:
                self._add_lines(record)

    def _add_lines(self, record: Record) -> None:
        found = record.decoded()
        if isinstance(found, Undecodable):
            self.unreadable[found.reason] += 1
        else:
            self.lines += found.entry.count(b"\n") == 1

    def _add_record(self, record: Record) -> None:
        fields = performance_schema.fields_of(record)
        reason = fields.get("ignored", "")
        if reason.startswith(performance_schema.UNREADABLE):
            self.unreadable[f"{fields['kind']}: {reason}"] += 1
        elif reason:
            self.ignored[f"{fields['kind']}: {reason}"] += 1
        else:
            self.used[fields["kind"]] += 1

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


def sample(
    topic: Topic, bounds: Mapping[int, Bounds], wanted: Attributes, is_of_records: bool = False
) -> Sample:
    """Reads the last messages. Raises RemoteError."""
    ends = {partition: each.end for partition, each in bounds.items()}
    begins = {partition: max(each.first, each.end - MESSAGES) for partition, each in bounds.items()}
    return of_messages((fetched.value for fetched in topic.read(begins, ends)), wanted, is_of_records)


def of_messages(values: Iterable[bytes], wanted: Attributes, is_of_records: bool = False) -> Sample:
    found = Sample(wanted, is_of_records)
    for value in values:
        found.add(value)
    return found
