"""Moves the times in a real log to the present, for demonstrations.

Supports the times of slow logs (MySQL, Percona Server, MariaDB), of MariaDB's server_audit, of Percona's JSON
audit log and of MariaDB's error log, including InnoDB's monitor and crash reports. All other bytes stay
unchanged. A log of a few seconds can be extended to a longer interval: the order of entries stays, their
distances grow.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

Move = Callable[[float], float]
"""Maps seconds since 1970 UTC to seconds since 1970 UTC."""

_ISO = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"
_SLOW_TIME_ISO = re.compile(rb"^(# Time: )(" + _ISO + rb")")
_SLOW_TIME_OLD = re.compile(rb"^(# Time: )(\d{6} [ \d]\d:\d\d:\d\d)")
_SLOW_SPAN = re.compile(rb"(Start: |End: )(" + _ISO + rb")")
_SET_TIMESTAMP = re.compile(rb"^(SET timestamp=)(\d{9,10})(?=;)")
_AUDIT_MARIADB = re.compile(rb"^()(\d{8} \d\d:\d\d:\d\d)(?=,)")
_AUDIT_PERCONA = re.compile(rb'("timestamp":")(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?: UTC|Z)?(?=")')
_ERROR_MARIADB = re.compile(rb"^()(\d{4}-\d\d-\d\d [ \d]\d:\d\d:\d\d)(?= (?:\d+ \[|0x[0-9a-f]+\b))")
_CRASH_MARIADB = re.compile(rb"^()(\d{6} [ \d]\d:\d\d:\d\d)(?= \[ERROR\] )")


@dataclass(frozen=True)
class _Form:
    """A notation of times: the place in a line, and the strftime format (None: seconds since 1970)."""

    pattern: re.Pattern[bytes]
    layout: str | None

    def read(self, text: bytes) -> float:
        if self.layout is None:
            return float(text)
        return datetime.strptime(text.decode(), self.layout).replace(tzinfo=UTC).timestamp()

    def write(self, seconds: float) -> bytes:
        if self.layout is None:
            return b"%d" % int(seconds)
        text = datetime.fromtimestamp(seconds, UTC).strftime(self.layout)
        return text.encode()


_FORMS = (
    _Form(_SLOW_TIME_ISO, "%Y-%m-%dT%H:%M:%S.%fZ"),
    _Form(_SLOW_TIME_OLD, "%y%m%d %H:%M:%S"),
    _Form(_SLOW_SPAN, "%Y-%m-%dT%H:%M:%S.%fZ"),
    _Form(_SET_TIMESTAMP, None),
    _Form(_AUDIT_MARIADB, "%Y%m%d %H:%M:%S"),
    _Form(_AUDIT_PERCONA, "%Y-%m-%dT%H:%M:%S"),
    _Form(_ERROR_MARIADB, "%Y-%m-%d %H:%M:%S"),
    _Form(_CRASH_MARIADB, "%y%m%d %H:%M:%S"),
)
_DAY = 86400.0
_HINTS = (b"# Time", b"# Query_time", b"SET timestamp=", b'{"audit_record"')


def time_range(lines: Iterable[bytes]) -> tuple[float, float]:
    """Returns the first and the last time of the log's clock, in seconds since 1970 UTC.

    Times more than a day from the median are ignored: sessions may `SET timestamp` to any value, and text may
    forge headers. Raises ValueError if the log contains no time.
    """
    times = [form.read(found.group(2)) for line in lines for form, found in _found(line)]
    if not times:
        raise ValueError("expected a slow, audit or error log, found no time in it")
    middle = median(times)
    own = [time for time in times if abs(time - middle) < _DAY]
    return min(own), max(own)


def linear_move(first: float, last: float, end: float, span: float) -> Move:
    """Maps [first, last] onto [end - span, end] and keeps other times; all in seconds, span > 0."""
    factor = span / max(last - first, 1.0)

    def move(seconds: float) -> float:
        return end - (last - seconds) * factor if first - 1 <= seconds <= last + 1 else seconds

    return move


def moved(lines: Iterable[bytes], move: Move) -> Iterator[bytes]:
    """Yields the lines with all times moved."""
    for line in lines:
        for form, _ in list(_found(line)):
            line = form.pattern.sub(lambda found, form=form: _replace(form, found, move), line)
        yield line


def _replace(form: _Form, found: re.Match[bytes], move: Move) -> bytes:
    written = form.write(move(form.read(found.group(2))))
    tail = found.group(0)[found.end(2) - found.start(0) :]
    return found.group(1) + written + tail


def _found(line: bytes) -> Iterator[tuple[_Form, re.Match[bytes]]]:
    if not line.startswith(_HINTS) and not line[:4].isdigit():
        return
    for form in _FORMS:
        found = form.pattern.search(line)
        if found:
            yield form, found
