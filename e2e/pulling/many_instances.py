"""A simulated service of AWS with the slow logs of many instances of RDS, at the time of a simulated clock.

It rotates each log hourly and keeps 24 files. A tenth of the instances write an entry each second, three
tenths one a minute, the others one an hour.
"""

import calendar
import time
import urllib.parse
from functools import lru_cache
from multiprocessing.sharedctypes import Synchronized

from e2e.bench_pull import Answer
from tailrace_pull.remote import START, Portion, RemoteFile
from tailrace_pull.service import WORKERS

LIVE = "slowquery/mysql-slowquery.log"
HOUR = 3600
BEGIN = 1_795_000_000 // HOUR * HOUR + 24 * HOUR
KEPT_HOURS = 24
REQUEST_SECONDS = 0.05
"""What a request takes in simulated time."""
PORTION_BYTES = 1_000_000
VALUES = "# Query_time: 0.100000  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: 1\n"
STATEMENT = f"SELECT {', '.join(f'column_{each}' for each in range(30))} FROM orders WHERE id = 1;\n"


def entry(at: int, number: int) -> str:
    header = f"# Time: {time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(at))}.000000Z\n"
    user = f"# User@Host: app[app] @  [10.0.0.1]  Id: {number:6}\n"
    return f"{header}{user}{VALUES}{STATEMENT}"


ENTRY_BYTES = len(entry(BEGIN, 1).encode())


def hour_of(lines: bytes) -> int:
    """Returns the beginning of the file of these lines, in seconds since 1970 UTC: that of their first
    entry's hour."""
    text = lines[len(b"# Time: ") : len(b"# Time: ") + len("2026-11-30T11:00:00")].decode()
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%S")) // HOUR * HOUR


def every_seconds(instance: int) -> int:
    """Returns after how many seconds an instance writes its next entry."""
    share = instance % 10
    return 1 if share == 0 else 60 if share < 4 else HOUR


def file_of(instance: int, hour: int, now: float) -> int:
    """Returns the entries of a file that begins at `hour`, in seconds since 1970 UTC."""
    return int(min(max(now - hour, 0), HOUR - 1)) // every_seconds(instance) + 1


def content(instance: int, hour: int, start: int, size: int) -> str:
    """Returns the bytes of a file from `start` on, which begins an entry."""
    first, pause = start // ENTRY_BYTES, every_seconds(instance)
    count = size // ENTRY_BYTES - first
    return "".join(entry(hour + number * pause, number) for number in range(first, first + count))


def request(clock: "Synchronized[float]", asked: "Synchronized[int]") -> float:
    """Lets the time of a request pass, counts it, and returns the time."""
    with clock.get_lock():
        clock.value += REQUEST_SECONDS / WORKERS
        asked.value += 1
        return clock.value


def rds(clock: "Synchronized[float]", asked: "Synchronized[int]") -> Answer:
    """Returns a service of AWS that has the logs of all instances, at the time of the clock."""

    def answer(_: str, __: str, body: bytes, ___: dict[str, str]) -> tuple[str, bytes, dict[str, str]]:
        form = dict(urllib.parse.parse_qsl(body.decode()))
        action, instance = form["Action"], int(form["DBInstanceIdentifier"].rpartition("-")[2])
        now = request(clock, asked)
        live = int(now) // HOUR * HOUR
        found = (
            describe(instance, live, now) if action == "DescribeDBLogFiles" else portion(form, instance, now)
        )
        text = f"<{action}Response><{action}Result>{found}</{action}Result></{action}Response>"
        return "text/xml", text.encode(), {}

    return answer


def files_of(instance: int, live: int, now: float) -> list[tuple[int, int, int]]:
    """Returns the beginning, the bytes and the last write of each file of an instance."""
    files = []
    for hour in range(max(BEGIN, live - KEPT_HOURS * HOUR), live + 1, HOUR):
        entries = file_of(instance, hour, now)
        files.append((hour, entries * ENTRY_BYTES, hour + (entries - 1) * every_seconds(instance)))
    return files


def describe(instance: int, live: int, now: float) -> str:
    files = "".join(
        f"<DescribeDBLogFilesDetails><LogFileName>{name_of(hour, live)}</LogFileName>"
        f"<LastWritten>{written}000</LastWritten><Size>{size}</Size></DescribeDBLogFilesDetails>"
        for hour, size, written in files_of(instance, live, now)
    )
    return f"<DescribeDBLogFiles>{files}</DescribeDBLogFiles>"


@lru_cache(maxsize=128)
def name_of(hour: int, live: int) -> str:
    return LIVE if hour == live else f"{LIVE}.{time.strftime('%Y-%m-%d.%H', time.gmtime(hour + HOUR))}"


def portion_of(instance: int, name: str, start: int, now: float) -> tuple[str, int, bool]:
    """Returns the text of a portion, its end, and whether more follows."""
    live = int(now) // HOUR * HOUR
    hours = range(live, live - KEPT_HOURS * HOUR, -HOUR)
    hour = next(each for each in hours if name_of(each, live) == name)
    size = file_of(instance, hour, now) * ENTRY_BYTES
    end = min(size, start + PORTION_BYTES // ENTRY_BYTES * ENTRY_BYTES)
    return content(instance, hour, start, end), end, end < size


def portion(form: dict[str, str], instance: int, now: float) -> str:
    start = int(form["Marker"].rpartition(":")[2])
    data, end, is_more = portion_of(instance, form["LogFileName"], start, now)
    return (
        f"<LogFileData>{data}</LogFileData><Marker>16:{end}</Marker>"
        f"<AdditionalDataPending>{str(is_more).lower()}</AdditionalDataPending>"
    )


class DirectLogs:
    """The log of one instance, read in this process: without HTTP and without botocore."""

    is_renamed = True

    def __init__(self, instance: int, clock: "Synchronized[float]", asked: "Synchronized[int]") -> None:
        self._instance = instance
        self._clock = clock
        self._asked = asked

    def files(self) -> list[RemoteFile]:
        now = request(self._clock, self._asked)
        live = int(now) // HOUR * HOUR
        return [
            RemoteFile(name_of(hour, live), size, written)
            for hour, size, written in files_of(self._instance, live, now)
        ]

    def is_live(self, name: str) -> bool:
        return name == LIVE

    def read(self, name: str, position: str, lines: int | None = None) -> Portion:
        now = request(self._clock, self._asked)
        start = int(position.rpartition(":")[2]) if position != START else 0
        data, end, is_more = portion_of(self._instance, name, start, now)
        return Portion(data.encode(), f"16:{end}", not is_more, end=end)

    def further(self, position: str, size: int) -> str | None:
        return None
