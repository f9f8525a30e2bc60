"""The status of a process of a channel, in a file."""

import json
import threading
import time
from pathlib import Path

from tailrace import replaced_file

COUNTS = ("read", "delivered", "refused", "failed", "skipped", "missed")
REFUSED_IN_A_ROW = 100
"""After this many refused events without a delivered one, the receiver counts as refusing everything."""


class Status:
    """Counters of one process of one channel. Methods may be called by any thread.

    `file` contains them as JSON, with `at` (seconds since 1970) and `problem`: the reason of the last
    failure, empty after a success. A receiver that refuses everything is a problem, too."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._counts = dict.fromkeys(COUNTS, 0)
        self._problem = ""
        self._since = 0.0
        self._refused_in_a_row = 0

    def count(self, **counts: int) -> None:
        """Adds to counters."""
        with self._lock:
            for name, count in counts.items():
                self._counts[name] += count

    def problem(self, problem: str) -> bool:
        """Sets the problem; returns whether it is another one."""
        with self._lock:
            is_new = problem != self._problem
            if not self._problem:
                self._since = time.time()
            self._problem = problem
        return is_new

    def answered(self, delivered: int, refused: int, reason: str) -> None:
        """Notes the answers to a batch, as numbers of events. `reason`: why the first one was refused."""
        with self._lock:
            self._refused_in_a_row = 0 if delivered else self._refused_in_a_row + refused
            refuses_all = self._refused_in_a_row >= REFUSED_IN_A_ROW
        if delivered:
            self.problem("")
        elif refuses_all:
            self.problem(f"every event is refused: {reason}")

    def beat(self, lag: int) -> None:
        """Writes the file. `lag`: messages of the topic that were not read yet."""
        with self._lock:
            state = {"at": time.time(), "problem": self._problem, "since": self._since, "lag": lag}
            content = json.dumps({**state, **self._counts})
        replaced_file.write(self._file, content)
