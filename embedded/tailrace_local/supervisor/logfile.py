"""A log file that is rotated by size: kafka.log, kafka.log.1 (newer) … kafka.log.3 (oldest)."""

from pathlib import Path


class RotatingLog:
    """Appends bytes; starts a new file before one would grow past `limit` bytes.

    A single write stays in one file, so a chunk larger than `limit` makes one larger file. On a full disk log
    lines are dropped without an error; the log reports their number as soon as there is free space.
    """

    def __init__(self, path: Path, limit: int, keep: int) -> None:
        self._path = path
        self._limit = limit
        self._keep = keep
        self._file = path.open("ab", buffering=0)
        self._size = path.stat().st_size
        self._lost = 0

    def write(self, chunk: bytes) -> None:
        try:
            self._report_lost_bytes()
            self._append(chunk)
        except OSError:
            self._lost += len(chunk)

    def _report_lost_bytes(self) -> None:
        if self._lost:
            self._append(b"[%d bytes of this log could not be written]\n" % self._lost)
            self._lost = 0

    def _append(self, chunk: bytes) -> None:
        if self._size and self._size + len(chunk) > self._limit:
            self._rotate()
        self._file.write(chunk)
        self._size += len(chunk)

    def close(self) -> None:
        self._file.close()

    def _rotate(self) -> None:
        self._file.close()
        for number in range(self._keep - 1, 0, -1):
            older = self._rotated(number)
            if older.exists():
                older.replace(self._rotated(number + 1))
        self._path.replace(self._rotated(1))
        self._file = self._path.open("ab", buffering=0)
        self._size = 0

    def _rotated(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")
