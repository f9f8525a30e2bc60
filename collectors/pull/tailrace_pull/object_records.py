"""Splits the content of exported objects into records, and selects the entries of one log: pure functions.

Sources: objects of an export task of CloudWatch Logs; JSON lines of Firehose, of a sink of Cloud Logging
(`LOG/YYYY/MM/DD/HH:MM:SS_HH:MM:SS_S0.json`) and of diagnostic settings of Azure (`PT1H.json`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from tailrace_pull.envelopes import (
    FIRST_EVENT,
    NEXT_EVENT,
    Decoded,
    EnvelopeError,
    decode,
    exported_events,
    google_entries,
    is_time,
    records,
    records_of_line,
)

NEAR = b'}{"'
JOINED = re.compile(rb'(?<=\})(?=\{"\w+":)')
"""Where two records meet: Firehose joins those of CloudWatch Logs without a line feed. Within a text of JSON
quotes are escaped, and behind its end no letter follows."""
END_BYTES = 64 << 10
"""Where the last event is searched for first."""
GOOGLE_LOGS = {"slowlog": "mysql-slow.log", "errorlog": "mysql.err", "general": "mysql-general.log"}
AZURE_LOGS = {"slowlog": "slow.log", "audit": "audit.log"}


@dataclass(frozen=True)
class Wanted:
    """The log of one server that is read from objects with records of several."""

    source: str
    server: str
    """Its name at the cloud. Streams of CloudWatch Logs with this name, a dot and a suffix belong to it."""
    group: str
    """Log group of records of CloudWatch Logs. Objects of export tasks do not contain it."""

    def includes(self, log: tuple[str, ...]) -> bool:
        cloud, *names = log
        if cloud == "google":
            return names[1:] == [self.server, GOOGLE_LOGS.get(self.source)]
        if cloud == "azure":
            return names[1:] == [self.server.lower(), AZURE_LOGS.get(self.source)]
        *group, stream, _ = names
        is_stream = stream == self.server or stream.startswith(f"{self.server}.")
        return cloud == "aws" and is_stream and group in ([], [self.group])


@dataclass(frozen=True)
class Undecodable:
    """A record that has not the published form."""

    size: int
    """Bytes in the object."""
    reason: str


def whole_records(data: bytes, is_end: bool) -> int:
    """Returns how many bytes at the begin of `data` are complete records.

    `is_end` states that the object ends with it: a last line is complete if it is JSON; otherwise it may be
    still being written."""
    if _is_exported(data):
        return len(data) if is_end else _last_event(data)
    cut = data.rfind(b"\n") + 1
    if is_end and cut < len(data) and _is_json(data[cut:]):
        return len(data)
    return cut or max((found.end() for found in JOINED.finditer(data)), default=0)


def _last_event(data: bytes) -> int:
    """Returns where the last event of an export task begins; 0 if no other follows the first one."""
    for begin in (max(0, len(data) - END_BYTES), 0):
        begins = [found.end() for found in NEXT_EVENT.finditer(data, begin) if is_time(found[1].decode())]
        if begins:
            return begins[-1]
    return 0


def _lines(data: bytes) -> Iterator[bytes]:
    """Yields lines, and the parts of those that contain several records."""
    for line in data.splitlines(keepends=True):
        if NEAR in line:
            yield from JOINED.split(line)
        else:
            yield line


def _is_exported(data: bytes) -> bool:
    """Returns whether data begins with an event of an export task."""
    found = FIRST_EVENT.match(data)
    return found is not None and is_time(found[1].decode())


def _is_json(data: bytes) -> bool:
    try:
        return bool(list(records(data.decode()))) or not data.strip()
    except ValueError:
        return False


def entries_of(data: bytes, name: str) -> Iterator[Decoded | Undecodable]:
    """Yields the entries of complete records of the object of this name, of all servers and logs."""
    if _is_exported(data):
        text = data.decode(errors="replace").encode()
        yield from exported_events(text, PurePosixPath(name).parent.name)
        return
    if (found := google_entries(data)) is not None:
        yield from found
        return
    for each in _lines(data):
        try:
            for record in records_of_line(each):
                if (found := decode(record)) is not None:
                    yield found
        except (EnvelopeError, UnicodeDecodeError) as error:
            yield Undecodable(len(each), str(error))
