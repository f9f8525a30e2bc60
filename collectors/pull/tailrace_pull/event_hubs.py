"""Reads the log of one server from an Azure event hub, as one file of decoded entries.

The position is the next offset of each partition. It is part of the state, and not committed to a consumer
group: so it is stored in the transaction of the lines. Source: Azure Monitor, streaming of resource logs
to Event Hubs.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tailrace_pull.entries_file import EntriesFile
from tailrace_pull.envelopes import Decoded, EnvelopeError, decode, records
from tailrace_pull.matching import Numbers
from tailrace_pull.object_records import Undecodable, Wanted
from tailrace_pull.reading import Round
from tailrace_pull.remote import RemoteError
from tailrace_pull.state import LogState, PulledFile

MILLIS = 1000
DAY_MILLIS = 86_400_000
Offsets = dict[int, int]
"""An offset for each partition."""


@dataclass(frozen=True)
class Bounds:
    """What a partition has."""

    first: int
    """Offset of the first message that was not deleted."""
    end: int
    """Offset of the next message."""


@dataclass(frozen=True)
class Fetched:
    """A message, or the end of a partition."""

    partition: int
    next: int
    """Offset behind it."""
    value: bytes
    """Empty at the end of a partition."""


class Hub(Protocol):
    """The partitions of one hub."""

    def bounds(self) -> Mapping[int, Bounds]:
        """Returns what each partition has. Raises RemoteError."""

    def offsets_at(self, millis: int) -> Offsets:
        """Returns the offset of the first message that arrived at a time or later, in milliseconds since
        1970 UTC, or of the next one. Raises RemoteError."""

    def read(self, positions: Offsets, ends: Offsets) -> Iterator[Fetched]:
        """Yields messages from the positions, until each partition was read to its end. Raises
        RemoteError."""


@dataclass(frozen=True)
class LogOfHub:
    """The log of one server in a hub (`reading.VisitedLog`)."""

    hub: Hub
    wanted: Wanted
    since: int = 0
    """Messages that arrived before are not read, in milliseconds since 1970 UTC; 0 for a day before the first
    visit."""

    def visit(self, state: LogState, new_number: Numbers, at: float, max_bytes: int) -> Round:
        """Reads messages that are new, at most about `max_bytes`. Raises RemoteError.

        An error after the first messages leaves these: the next visit continues behind them.
        """
        done = Round(at, state.copy())
        if not done.state.files:
            done.state.files.append(PulledFile(new_number(), self.wanted.server))
        entries = EntriesFile(done, self.wanted, lambda _: False)
        bounds = self.hub.bounds()
        positions = self._positions(state, bounds, at)
        _leave_gaps(entries, positions, bounds)
        ends = {partition: each.end for partition, each in bounds.items()}
        left = max_bytes
        try:
            for fetched in self.hub.read(dict(positions), ends):
                place = f"partition {fetched.partition}, offset {positions[fetched.partition]}"
                entries.add(entries_of_message(fetched.value), place)
                positions[fetched.partition] = fetched.next
                left -= len(fetched.value)
                if left <= 0:
                    break
        except RemoteError:
            if left == max_bytes:
                raise
        done.is_complete = all(positions[partition] >= end for partition, end in ends.items())
        done.state.memory = json.dumps({str(partition): each for partition, each in positions.items()})
        return done

    def _positions(self, state: LogState, bounds: Mapping[int, Bounds], at: float) -> Offsets:
        """Returns where to read. A partition that was added later is read from offset 0, so that messages
        which retention deleted in it leave a gap."""
        if state.memory:
            known = {int(partition): offset for partition, offset in json.loads(state.memory).items()}
            return {partition: known.get(partition, 0) for partition in bounds}
        known = self.hub.offsets_at(self.since or int(at * MILLIS) - DAY_MILLIS)
        return {partition: known.get(partition, each.first) for partition, each in bounds.items()}


def _leave_gaps(entries: EntriesFile, positions: Offsets, bounds: Mapping[int, Bounds]) -> None:
    """Leaves a gap for messages that were deleted before they were read, and moves the positions behind
    them. Their bytes are not known: each counts as one."""
    for partition, each in bounds.items():
        position = positions[partition]
        if position < each.first:
            lost = f"{each.first - position} messages from offset {position}"
            reason = (
                f"partition {partition}: retention deleted {lost} before they were read (a byte for each)"
            )
            entries.leave_gap(each.first - position, reason)
        elif position > each.end:
            reason = (
                f"partition {partition} ends at offset {each.end}, before the position {position}: it is new"
            )
            entries.leave_gap(1, f"{reason}, and messages of the earlier one may be missing")
        else:
            continue
        positions[partition] = each.first


def entries_of_message(value: bytes) -> Iterator[Decoded | Undecodable]:
    """Yields the entries of a message, of all servers and logs."""
    try:
        found: list[dict[str, Any]] = list(records(value.decode()))
    except (EnvelopeError, UnicodeDecodeError) as error:
        yield Undecodable(len(value), str(error))
        return
    for record in found:
        try:
            if (decoded := decode(record)) is not None:
                yield decoded
        except EnvelopeError as error:
            yield Undecodable(len(json.dumps(record).encode()), str(error))
