"""Reads the new lines of the files of one log: complete lines only, with their offsets."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from tailrace_pull import portions
from tailrace_pull.matching import Listing, Numbers, match
from tailrace_pull.plural import counted
from tailrace_pull.remote import BinaryDataError, FileGoneError, Portion, RemoteError, RemoteLogs
from tailrace_pull.state import LogState, PulledFile


@dataclass(frozen=True)
class LineRun:
    """Consecutive complete lines of a file."""

    file: PulledFile
    offset: int
    lines: bytes


@dataclass(frozen=True)
class Gap:
    """Bytes of a file that were not read."""

    offset: int
    size: int
    reason: str


@dataclass
class Round:
    """What one visit of a log found. The lines, then the census of `state`, belong into one transaction
    with it."""

    at: float
    """Time of the listing before, in seconds since 1970 UTC."""
    state: LogState
    runs: list[LineRun] = field(default_factory=list)
    is_complete: bool = True
    """Whether nothing is left to read."""
    gaps: list[Gap] = field(default_factory=list)
    """What a log of entries lacks (`entries_file.EntriesFile`)."""
    notes: list[str] = field(default_factory=list)
    """What the operator should know, such as the reason of a gap."""

    @property
    def bytes(self) -> int:
        return sum(len(run.lines) for run in self.runs)


class VisitedLog(Protocol):
    """A log of a service, as the puller visits it."""

    def visit(self, state: LogState, new_number: Numbers, at: float, max_bytes: int) -> Round:
        """Reads what is new, at most about `max_bytes`; `at` is now, in seconds since 1970 UTC. Changes no
        state. Raises RemoteError."""


@dataclass(frozen=True)
class FilesOfLog:
    """A log that consists of files of a service."""

    logs: RemoteLogs

    def visit(self, state: LogState, new_number: Numbers, at: float, max_bytes: int) -> Round:
        return visit(self.logs, state, new_number, at, max_bytes)


def visit(logs: RemoteLogs, state: LogState, new_number: Numbers, at: float, max_bytes: int) -> Round:
    """Reads what is new in the files of a log, at most about `max_bytes`. Raises RemoteError.

    Files are listed before and after. If the log was rotated in between, a name may have meant two files:
    then the round contains nothing, and the next one starts with the new names.
    """
    before = Listing(at, tuple(logs.files()))
    done = Round(at, match(state, before, logs, new_number))
    nothing = Round(at, state.copy(), is_complete=False)
    try:
        is_new = _read_files(logs, done, max_bytes) or done.state.names() != state.names()
    except FileGoneError:
        return nothing
    if is_new and not before.has_same_files(Listing(at, tuple(logs.files())), logs.is_live):
        return nothing
    return done


def _read_files(logs: RemoteLogs, done: Round, max_bytes: int) -> bool:
    """Reads the files in order; returns whether any was read."""
    was_read = False
    for file in done.state.files:
        if file.has_more:
            was_read = True
            try:
                done.runs.extend(_new_lines(logs, file, max_bytes - done.bytes))
            except BinaryDataError as error:
                if file.is_live:
                    raise
                _leave_out_rest(file, done, error)
            done.is_complete &= not file.has_more
    return was_read


def _leave_out_rest(file: PulledFile, done: Round, error: BinaryDataError) -> None:
    """Ends a rotated file: it gets no later line, behind which reading could continue."""
    rest = counted(file.size - file.offset, "byte")
    done.notes.append(f"{file.name}: its last {rest} cannot be read: {error}")
    file.offset = file.size


def _new_lines(logs: RemoteLogs, file: PulledFile, max_bytes: int) -> Iterator[LineRun]:
    """Yields the complete lines behind the offset, and moves the file's position behind them."""
    while file.has_more and max_bytes > 0:
        before = file.offset, file.position, file.skip
        portion = portions.whole(logs, file.name, file.position, file.offset - file.skip)
        lines = portion.data[file.skip :]
        lines = lines[: lines.rfind(b"\n") + 1]
        if lines:
            yield LineRun(file, file.offset, lines)
            max_bytes -= len(lines)
        _advance(file, portion, lines)
        if file.has_more and before == (file.offset, file.position, file.skip):
            raise RemoteError(
                f"{file.name}: the service does not say where the file continues after {before}"
            )


def _advance(file: PulledFile, portion: Portion, lines: bytes) -> None:
    if not portion.is_long_line:
        file.extend_head(lines)
    file.offset += len(lines)
    file.skip += len(lines)
    if _ends_whole(portion, file) and portion.position is not None:
        file.offset = portion.end if portion.end is not None else file.offset
        file.position, file.skip = portion.position, 0
    if portion.at_end:
        file.read_size = file.size


def _ends_whole(portion: Portion, file: PulledFile) -> bool:
    return portion.is_cut or file.skip == len(portion.data)
