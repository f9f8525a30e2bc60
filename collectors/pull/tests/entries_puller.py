"""A puller of a log whose entries become one file (`tailrace_pull.entries_file`), with slow queries that have
numbers."""

import itertools
import re

from tailrace_pull.reading import Round, VisitedLog
from tailrace_pull.state import LogState

AZURE_ID = "/SUBSCRIPTIONS/0A/RESOURCEGROUPS/RG/PROVIDERS/MICROSOFT.DBFORMYSQL/FLEXIBLESERVERS/"
NUMBER = re.compile(rb"select (\d+);")
GAP = re.compile(r"gap of (\d+) bytes?")


class EntriesPuller:
    """Visits a log, and keeps what a transaction would have stored."""

    def __init__(self, log: VisitedLog) -> None:
        self.log, self.state = log, LogState()
        self.content = b""
        """What was stored; gaps are NUL bytes."""
        self.notes: list[str] = []
        self._numbers = itertools.count(1)

    def visit(self, at: float, max_bytes: int = 1 << 20, is_killed: bool = False) -> Round:
        """Visits; a killed puller loses what it read."""
        kept = self.state.to_json()
        done = self.log.visit(self.state, lambda: next(self._numbers), at, max_bytes)
        assert self.state.to_json() == kept, "a visit changed the state"
        if not is_killed:
            for run in done.runs:
                assert run.offset >= len(self.content), "the same bytes twice"
                self.content = self.content.ljust(run.offset, b"\0") + run.lines
            self.content = self.content.ljust(done.state.files[0].offset, b"\0")
            self.state = LogState.from_json(done.state.to_json())
            self.notes += done.notes
        return done

    def visit_until_read(self, at: float, max_bytes: int = 1 << 20) -> None:
        for _ in range(1000):
            if self.visit(at, max_bytes).is_complete:
                return
        raise AssertionError("not read to the end")

    def numbers(self) -> list[int]:
        """Returns the numbers of the stored statements, in the order of the file."""
        return [int(found[1]) for found in NUMBER.finditer(self.content)]

    def gap_bytes(self) -> int:
        """Returns how many bytes the notes of the gaps name."""
        return sum(int(size) for note in self.notes for size in GAP.findall(note))
