"""The file of decoded entries that the puller makes of a log whose service has no file."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Protocol

from tailrace_pull.envelopes import Decoded
from tailrace_pull.object_records import Undecodable
from tailrace_pull.plural import counted
from tailrace_pull.portions import MAX_LINE_BYTES
from tailrace_pull.reading import Gap, LineRun, Round
from tailrace_pull.state import PulledFile

EARLIEST = datetime.min.replace(tzinfo=UTC)


class Selection(Protocol):
    """Selects the entries of one log, of those of several servers and logs."""

    def includes(self, log: tuple[str, ...]) -> bool:
        """`log` is that of the entry (`envelopes.Decoded`)."""


@dataclass(frozen=True)
class EntriesFile:
    """Appends the entries of a visit to the file, with gaps in place of what could not be read."""

    done: Round
    """Its state has one file."""
    wanted: Selection
    is_repeated: Callable[[Decoded], bool]
    """Notes an entry; returns whether it was stored before."""

    @property
    def _file(self) -> PulledFile:
        return self.done.state.files[-1]

    def add(self, found: Iterable[Decoded | Undecodable], name: str) -> None:
        """Adds the entries of the log. `name` is where they are from, for the reasons of gaps."""
        parts: list[bytes] = []
        newest = EARLIEST
        includes, is_repeated = cache(self.wanted.includes), self.is_repeated
        for each in found:
            if isinstance(each, Undecodable):
                self._append(parts)
                self.leave_gap(each.size, f"{name}: a record cannot be decoded: {each.reason}")
            elif includes(each.log) and not is_repeated(each):
                if len(each.entry) > MAX_LINE_BYTES and _has_long_line(each.entry):
                    self._append(parts)
                    self.leave_gap(len(each.entry), f"{name}: a line has more than {MAX_LINE_BYTES} bytes")
                    continue
                parts.append(each.entry)
                if each.at > newest:
                    newest = each.at
        self._append(parts)
        if newest > EARLIEST:
            self._file.written_at = max(self._file.written_at, newest.timestamp())

    def leave_gap(self, size: int, reason: str) -> None:
        """`size` in bytes."""
        self.done.gaps.append(Gap(self._file.offset, size, reason))
        self._end_at(self._file.offset + size)
        self.done.notes.append(f"{reason}: a gap of {counted(size, 'byte')}")

    def _append(self, parts: list[bytes]) -> None:
        lines = b"".join(parts)
        parts.clear()
        if lines:
            self.done.runs.append(LineRun(self._file, self._file.offset, lines))
            self._file.extend_head(lines)
            self._end_at(self._file.offset + len(lines))

    def _end_at(self, offset: int) -> None:
        self._file.offset = self._file.size = self._file.read_size = offset


def _has_long_line(entry: bytes) -> bool:
    return any(len(line) > MAX_LINE_BYTES for line in entry.split(b"\n"))
