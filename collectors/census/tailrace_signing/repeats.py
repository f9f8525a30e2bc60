"""Repeats records after a restart of Fluent Bit.

Fluent Bit forgets a line once it is in the queue of its Kafka output. If it is killed, that queue is lost.
The lines of logs are repaired from the files; the records of the spool are simply shipped again, because the
reader ignores records that it knows.
"""

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

STATE_FILE = "fluent-bit-start.json"
HOURS = 6
REPEATED_BYTES = 64 << 20
TIMEOUT_SECONDS = 0.5
CHECK_SECONDS = 10
TOLERANCE_SECONDS = 5
"""Fluent Bit gives its age in whole seconds, and clocks are corrected."""


class Repeats:
    """Notices that another Fluent Bit runs than before, also across restarts of the census."""

    def __init__(self, spool: Path, address: str, report: Callable[[str], None]) -> None:
        """`address` is that of Fluent Bit's HTTP server."""
        self._spool = spool
        self._file = spool.parent / STATE_FILE
        self._address = f"{address}/api/v1/uptime"
        self._report = report
        self._checked = -float(CHECK_SECONDS)

    def check(self) -> None:
        """Repeats records if Fluent Bit was started again. A failure is reported, and tried again."""
        if time.monotonic() - self._checked < CHECK_SECONDS:
            return
        self._checked = time.monotonic()
        started = self._started()
        if started is None:
            return
        try:
            self._after_start(started)
        except OSError as error:
            self._report(f"cannot repeat signed ranges: {error}")

    def _after_start(self, started: float) -> None:
        before = self._known()
        if before is not None and started <= before + TOLERANCE_SECONDS:
            return
        if before is not None:
            self.repeat(started)
        draft = self._file.with_name(f"{self._file.name}.new")
        draft.write_text(json.dumps({"started": started}))
        os.replace(draft, self._file)

    def repeat(self, started: float) -> None:
        """Copies the newest spool files to new ones, oldest first. A second call for the same start replaces
        nothing: Fluent Bit has a file of that name already."""
        left = REPEATED_BYTES
        for number, path in enumerate(self._newest(started)):
            content = path.read_bytes()[-left:]
            left -= len(content)
            copy = self._spool / f"signed-{int(started)}-{number}.repeat.jsonl"
            draft = copy.with_suffix(".new")
            draft.write_bytes(content[content.find(b'{"host"') :])
            os.replace(draft, copy)
            if left <= 0:
                return

    def _newest(self, started: float) -> "list[Path]":
        since = started - HOURS * 3600
        found = [
            (status.st_mtime, path)
            for path in self._spool.glob("signed-*T??.jsonl")
            if (status := path.stat()).st_mtime >= since and status.st_size
        ]
        return [path for _, path in sorted(found, reverse=True)]

    def _known(self) -> "float | None":
        try:
            return float(json.loads(self._file.read_text())["started"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _started(self) -> "float | None":
        """Returns the time when Fluent Bit was started, in seconds since 1970 UTC; None if it does not
        answer."""
        try:
            with urllib.request.urlopen(self._address, timeout=TIMEOUT_SECONDS) as answer:
                return time.time() - float(json.load(answer)["uptime_sec"])
        except (OSError, ValueError, KeyError, TypeError, urllib.error.URLError):
            return None
