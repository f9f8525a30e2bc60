"""Hourly files of JSON lines, which Fluent Bit tails; schemas/contracts/spool.json has the rules."""

import json
import os
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

KEPT_SECONDS = 72 * 3600
"""Longer than any expected outage of a collector."""


class Spool:
    """The files of one kind, `<kind>-<hour>.jsonl`. A call appends all its lines or, at a crash, a prefix
    with a torn line, which Fluent Bit's parser refuses."""

    def __init__(self, directory: Path, kind: str) -> None:
        self._directory = directory
        self._kind = kind
        self._lock = threading.Lock()
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def append(self, envelopes: Iterable[Mapping[str, object]], now: float) -> None:
        """Appends one line for each envelope, with a single write. Raises OSError."""
        lines = "".join(line_of(envelope) for envelope in envelopes)
        path = self._directory / time.strftime(f"{self._kind}-%Y%m%dT%H.jsonl", time.gmtime(now))
        with self._lock:
            self._append(path, lines, now)

    def _append(self, path: Path, lines: str, now: float) -> None:
        is_new = not path.exists()
        with open(os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600), "a+b", buffering=0) as file:
            whole = self._end_of_torn_line(file) + lines.encode(errors="backslashreplace")
            written = file.write(whole)
            if written != len(whole):
                raise OSError(f"{path}: only {written} of {len(whole)} bytes could be written")
        if is_new:
            self._remove_old(now)

    @staticmethod
    def _end_of_torn_line(file: BinaryIO) -> bytes:
        """Returns a line feed if the last line is incomplete, after a crash or on a full disk."""
        if file.seek(0, os.SEEK_END) == 0:
            return b""
        file.seek(-1, os.SEEK_END)
        return b"" if file.read(1) == b"\n" else b"\n"

    def _remove_old(self, now: float) -> None:
        for path in self._directory.glob(f"{self._kind}-*.jsonl"):
            if path.stat().st_mtime < now - KEPT_SECONDS:
                path.unlink()


def line_of(envelope: Mapping[str, object]) -> str:
    """Formats one line of JSON, the same for the same content. Control codes are escaped, so that no name
    breaks a line."""
    return json.dumps(envelope, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
