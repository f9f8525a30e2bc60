"""The identity of a pulled log, and the records that its lines and files become (schemas/*.schema.json)."""

import hashlib
import urllib.parse
from dataclasses import dataclass
from functools import lru_cache

from tailrace_pull.state import PulledFile

TOPIC = "tailrace.{}.lines"
FILES_TOPIC = "tailrace.files"
SUFFIXES = 1_000_000
KNOWN_HEADS = 32_768
"""Heads whose hash is remembered, of up to 4 KB each: those of 24 files of 1,000 logs, and more."""


@lru_cache(maxsize=KNOWN_HEADS)
def hash_of_head(head: bytes) -> str:
    """Returns the hexadecimal MD5 of the head of a file, which many records of the file contain."""
    return hashlib.md5(head, usedforsecurity=False).hexdigest()


@dataclass(frozen=True)
class PulledLog:
    """One log of one server. The fields are those of a line record."""

    instance: str
    cluster: str
    source: str
    """slowlog, audit, errorlog or general."""
    live_path: str
    """The path of the live file in line records; absolute, such as
    /rds/REGION/SERVER/slowquery/mysql-slowquery.log."""
    tz: str = "UTC"
    format: str = "auto"

    @property
    def topic(self) -> str:
        return TOPIC.format(self.source)

    @property
    def key(self) -> str:
        """The key of the state; the path names the service and the server."""
        return f"{self.instance}|{self.source}|{self.live_path}"

    def path(self, file: PulledFile) -> str:
        """Returns the path in records. That of a rotated file ends as schemas/contracts/canonical_path.json
        says, because services have suffixes of their own."""
        return self.live_path if file.is_live else f"{self.live_path}.{file.number % SUFFIXES}"

    def lines(self, file: PulledFile, offset: int, lines: bytes, at: float) -> dict:
        """Returns the record of complete lines; the last line feed is left out."""
        return {
            "@timestamp": at,
            "instance": self.instance,
            "origin": f"{self.source}|{self.format}|{self.tz}|{self.cluster}",
            "path": self.path(file),
            "offset": offset,
            "log": lines[:-1],
        }

    def census(self, file: PulledFile, at: float) -> dict:
        return {
            "at": round(at, 3),
            "cluster": self.cluster,
            "instance": self.instance,
            "source": self.source,
            "path": self.path(file),
            "inode": file.number,
            "size": max(file.size, file.offset),
            "head_length": len(file.head),
            "head_hash": hash_of_head(file.head),
            "mtime": round(file.written_at, 3),
        }


@dataclass(frozen=True)
class StreamedLog(PulledLog):
    """A log whose files are the streams of a log group. `live_path` is the directory of these files."""

    def path(self, file: PulledFile) -> str:
        """Returns the path in records. It ends so that no part of a stream's name is a rotation suffix."""
        return f"{self.live_path}/{urllib.parse.quote(file.name, safe='')}.events"


@dataclass(frozen=True)
class SeparateFiles(StreamedLog):
    """A log of files that are never renamed. `live_path` is the directory of these files."""

    def path(self, file: PulledFile) -> str:
        return f"{self.live_path}/{urllib.parse.quote(file.name.rpartition('/')[2], safe='')}.events"
