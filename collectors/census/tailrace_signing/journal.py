"""The state of a signer, and the spool of its records: neither a crash nor a full disk separates them.

The state is written before the records, and contains them. If a process ends between the two, the next one
completes the records from the state, byte by byte the same. So no sequence number has two payloads, and none
is missing. A power failure does not matter either: the records are on the disk before the next state is.
"""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

VERSION = 1
KEPT_SECONDS = 72 * 3600


class StateError(ValueError):
    """The state is damaged, missing or of a newer version; the message states the reason."""


@dataclass
class State:
    """What a signer must remember."""

    key: str = ""
    """Id of the key that signs; empty before the first record."""
    sequence: int = 0
    """Number of the last record."""
    previous: str = ""
    """SHA-256 of the payload of the last record, hexadecimal; empty before the first one."""
    files: "dict[str, dict[str, Any]]" = field(default_factory=dict)
    """The signed files by their identity."""


class Journal:
    """The state file and the hourly spool files `signed-*.jsonl` of one signer."""

    def __init__(self, spool: Path, state_file: Path) -> None:
        """Completes what an earlier process left incomplete. Raises StateError, OSError."""
        self.spool = spool
        self._file = state_file
        self._pending: dict[str, Any] = {}
        self.state = State()
        self._read()
        self._complete()

    def commit(self, state: State, lines: Sequence[str], now: float) -> None:
        """Stores a state and the records that belong to it. Raises OSError: then a new Journal completes
        or forgets them."""
        text = "".join(f"{line}\n" for line in lines)
        self._pending = {**self._end_of_spool(now), "text": text}
        self._write_state(state)
        self.state = state
        self._complete()
        self._remove_old(now)

    def _read(self) -> None:
        try:
            stored = json.loads(self._file.read_text())
            if stored["version"] > VERSION:
                raise StateError(f"{self._file} has version {stored['version']}, known is {VERSION}")
            self.state = State(stored["key"], stored["sequence"], stored["previous"], stored["files"])
            self._pending = stored["pending"]
        except FileNotFoundError:
            return
        except (KeyError, TypeError, ValueError) as error:
            raise error if isinstance(error, StateError) else StateError(f"{self._file}: {error}") from error

    def _end_of_spool(self, now: float) -> "dict[str, Any]":
        name = time.strftime("signed-%Y%m%dT%H.jsonl", time.gmtime(now))
        try:
            offset = os.stat(self.spool / name).st_size
        except FileNotFoundError:
            offset = 0
        return {"file": name, "offset": offset}

    def _complete(self) -> None:
        if not self._pending:
            return
        missing = self._missing()
        if missing is None:  # the spool file was removed, or does not contain what was written before
            self._pending = {**self._pending, **self._end_of_spool(time.time())}
            if self._pending["offset"] and not self._ends_with_line():
                self._pending["text"] = "\n" + self._pending["text"].lstrip("\n")
            self._write_state(self.state)
            missing = self._pending["text"].encode()
        self._append(missing)

    def _missing(self) -> "bytes | None":
        """Returns the part of the pending text that the spool lacks; None if it cannot be appended."""
        text = self._pending["text"].encode()
        try:
            with open(self.spool / self._pending["file"], "rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(self._pending["offset"])
                found = file.read(len(text))
        except FileNotFoundError:
            return text if self._pending["offset"] == 0 else None
        is_whole = size >= self._pending["offset"] and text.startswith(found)
        return text[len(found) :] if is_whole else None

    def _ends_with_line(self) -> bool:
        with open(self.spool / self._pending["file"], "rb") as file:
            file.seek(self._pending["offset"] - 1)
            return file.read(1) == b"\n"

    def _append(self, text: bytes) -> None:
        path = self.spool / self._pending["file"]
        is_new = not path.exists()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            _write(descriptor, text)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if is_new:
            _sync_directory(self.spool)

    def _write_state(self, state: State) -> None:
        content = {"version": VERSION, **vars(state), "pending": self._pending}
        draft = self._file.with_name(f"{self._file.name}.new")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            _write(descriptor, json.dumps(content).encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(draft, self._file)
        _sync_directory(self._file.parent)

    def _remove_old(self, now: float) -> None:
        for path in self.spool.glob("signed-*.jsonl"):
            if path.stat().st_mtime < now - KEPT_SECONDS:
                path.unlink()


def _write(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
