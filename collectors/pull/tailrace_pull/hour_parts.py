"""Lists an hour of a log again in parts, so that a busy log does not delay others: pure functions of pages.

A part ends at a time, not at a page: then it is known of each event whether it was compared, although
others become visible meanwhile.
"""

from collections.abc import Mapping

from tailrace_pull.events import LogEvent
from tailrace_pull.late_events import Comparison, Hour, size_of


class Part:
    """The part of a comparison that one visit makes. Events that arrived after `settled` are left for later,
    because others of their batch may not be visible yet. At most about `max_bytes` of late events are
    kept."""

    def __init__(
        self, compared: Comparison, hour: Hour, seen: Mapping[bytes, int], settled: int, max_bytes: int
    ) -> None:
        """`seen` has the times of events that are known to be read, by the hashes of their ids."""
        self.late: list[LogEvent] = []
        self._compared, self._hour, self._seen, self._settled = compared, hour, seen, settled
        self._left = max_bytes
        self._begin = compared.position
        known = sum(hour.start <= each < hour.end for each in seen.values())
        self._knows_all = known == hour.read.count

    def take(self, event: LogEvent) -> bool:
        """Takes the next event in the order of times; returns whether the part has enough late events. Parts
        of a long entry have one time: the visit does not end between them."""
        is_next_time = event.timestamp > self._compared.position
        if self._left < 0 and is_next_time:
            return True
        if event.timestamp < self._hour.end and not self._compared.has_passed(event):
            self._compare(event)
            self._compared.pass_by(event)
        return False

    @property
    def is_within_entry(self) -> bool:
        """Returns whether the next event may be a part of the last entry."""
        return bool(self.late) and self.late[-1].may_be_split

    def pause(self, token: str) -> None:
        """Ends the part before the end of the hour. `token` is where the service continues. It is used only
        if all events have the time of the first one: another listing would end there, too."""
        self._compared.token = token if self._compared.position == self._begin else ""

    def end(self) -> None:
        """Ends the last part of the hour."""
        self._compared.position, self._compared.token, self._compared.ids = self._hour.end, "", set()

    def _compare(self, event: LogEvent) -> None:
        compared, key = self._compared, event.key
        if key in self._seen:
            compared.by_id.add(event)
        elif not (self._knows_all or compared.is_surely_new(event)):
            compared.others.add(event)
            compared.stream = event.stream
        else:
            compared.has_late = True
            if event.ingested <= self._settled:
                self.late.append(event)
                self._left -= size_of(event)
