"""Signs the ranges of what the puller received, as the census does for files (docs/SIGNING.md).

Records and state are written in the transaction of the lines. So a number is used once, and none is missing.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from tailrace_pull.log import PulledLog, hash_of_head
from tailrace_pull.reading import LineRun, Round
from tailrace_pull.state import VERSION, PulledFile, StateError
from tailrace_signing import keys
from tailrace_signing.chain import Chain
from tailrace_signing.journal import State
from tailrace_signing.ranges import Range, divide, joined

STATE_KEY = "signing|{}"
"""Key of the record with the last number, in the topic of the logs' states; the name is that of the host."""


class RoundSigner:
    """Signs rounds with the key of one puller."""

    def __init__(self, host: str, key_file: Path) -> None:
        """Raises KeyFileError, OSError."""
        self.host = host
        self._key = keys.read(key_file)
        self._state = State()
        self._chain = self._begin()

    @property
    def state_key(self) -> str:
        return STATE_KEY.format(self.host)

    def restore(self, stored: bytes) -> None:
        """Continues after the records that Kafka confirmed. Another key begins with number 1. Raises
        StateError."""
        try:
            content = json.loads(stored)
            if content["version"] > VERSION:
                raise StateError(f"the state of signatures has version {content['version']}")
            state = State(content["key"], content["sequence"], content["previous"])
        except (KeyError, TypeError, ValueError) as error:
            raise error if isinstance(error, StateError) else StateError(f"damaged state: {error}") from error
        if state.key == self._key.id:
            self._state = state
        self.abort()

    def sign(self, rounds: Mapping[PulledLog, Round]) -> Iterator[dict[str, str]]:
        """Yields the records of the rounds, and notes the open ranges in their states."""
        for log, done in rounds.items():
            for file in done.state.files:
                found = list(_ranges(file, [run for run in done.runs if run.file is file]))
                described = _described(log, file)
                for each in joined(found):
                    yield self._chain.record({**described, **each.payload()}, each.earlier_ranges())

    def state(self) -> bytes:
        """Returns the state after the records, to be stored with them."""
        after = self._chain.state({})
        content = {
            "version": VERSION,
            "key": after.key,
            "sequence": after.sequence,
            "previous": after.previous,
        }
        return json.dumps(content, separators=(",", ":")).encode()

    def confirm(self) -> None:
        """Is called when Kafka has stored the records."""
        self._state = self._chain.state({})

    def abort(self) -> None:
        """Is called when Kafka has stored none of them: their numbers are free again."""
        self._chain = self._begin()

    def _begin(self) -> Chain:
        return Chain(self.host, self._key, self._state)


def _ranges(file: PulledFile, runs: list[LineRun]) -> Iterator[Range]:
    """Yields the closed ranges of a file and, if it has new lines, the open one. A file that gets no more
    lines has no open one."""
    for run in runs:
        if run.offset != file.range_from + len(file.range_bytes):  # the service left out what is in between
            yield from _closed(file)
            file.range_from = run.offset
        yield from _of_run(file, run.lines)
    if file.is_live or file.has_more:
        yield from _rest(file, closed=False) if runs else ()
    else:
        yield from _closed(file)


def _of_run(file: PulledFile, lines: bytes) -> Iterator[Range]:
    """Yields the closed ranges, and leaves the open one in the state of the file."""
    known = file.range_bytes + lines
    start = file.range_from
    for each in divide(lambda offset, size: known[offset : offset + size], 0, len(known), ended=False):
        if each.closed:
            file.range_from = start + each.end
            yield Range(start + each.start, file.range_from, True, each.sha256)
    file.range_bytes = known[file.range_from - start :]


def _closed(file: PulledFile) -> Iterator[Range]:
    yield from _rest(file, closed=True)
    file.range_from += len(file.range_bytes)
    file.range_bytes = b""


def _rest(file: PulledFile, closed: bool) -> Iterator[Range]:
    known = file.range_bytes
    for each in divide(lambda offset, size: known[offset : offset + size], 0, len(known), ended=True):
        yield Range(file.range_from, file.range_from + each.end, closed, each.sha256)


def _described(log: PulledLog, file: PulledFile) -> dict[str, object]:
    return {
        "cluster": log.cluster,
        "instance": log.instance,
        "source": log.source,
        "path": log.path(file),
        "inode": file.number,
        "head_length": len(file.head),
        "head_hash": hash_of_head(file.head),
    }
