"""Megabytes per CPU-second of the puller for each kind of log: `make bench-pull`.

The puller downloads a log of ordinary statements from a service on loopback into a directory, without
Kafka. The service answers from prepared text, in a process of its own. CPU time is that of the puller without
its start, which a log of one entry measures. The downloaded bytes are compared with those of the log.
"""

import argparse
import gzip
import itertools
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from xml.sax.saxutils import escape

from e2e.workload.statements import ordinary
from tailrace.programs import pull

MB = 1_000_000
PORTION_BYTES = 1_000_000
OBJECT_BYTES = 20_000_000
NOW = int(time.time())
LIVE = "slowquery/mysql-slowquery.log"
Answer = Callable[[str, str, bytes, dict[str, str]], tuple[str, bytes, dict[str, str]]]
"""Takes path, operation, body and headers of a request; returns content type, body and headers."""


def entries(megabytes: float) -> Iterator[str]:
    """Yields at least one entry of a slow log, and at least this number of megabytes in total."""
    chosen, size = random.Random(1), 0
    texts = [ordinary(chosen).sql.decode(errors="replace") for _ in range(1000)]
    for number in itertools.count():
        entry = (
            f"# Time: 2026-11-27T10:{number // 60 % 60:02}:{number % 60:02}.000000Z\n"
            f"# User@Host: app[app] @  [10.0.0.{number % 250}]  Id: {number % 900}\n"
            f"# Query_time: 0.{number % 900000:06}  Lock_time: 0.000001 Rows_sent: 1  "
            f"Rows_examined: {number}\n"
            f"SET timestamp=1795773600;\n{texts[number % len(texts)]};\n"
        )
        size += len(entry.encode())
        yield entry
        if size >= megabytes * MB:
            return


def portions(texts: Iterator[str], size: int) -> Iterator[list[str]]:
    """Yields lists of texts with about this number of bytes each."""
    part: list[str] = []
    left = size
    for text in texts:
        part.append(text)
        left -= len(text)
        if left <= 0:
            yield part
            part, left = [], size
    if part:
        yield part


def rds(megabytes: float) -> tuple[Answer, int]:
    """Returns a service with one log file, and its bytes."""
    kept = ["".join(part) for part in portions(entries(megabytes), PORTION_BYTES)]
    ends = list(itertools.accumulate(len(each.encode()) for each in kept))
    starts = {0: 0} | {end: number for number, end in enumerate(ends, 1)}
    bodies = [escape(each) for each in kept]

    def answer(_: str, __: str, body: bytes, ___: dict[str, str]) -> tuple[str, bytes, dict[str, str]]:
        form = dict(urllib.parse.parse_qsl(body.decode()))
        action = form["Action"]
        if action == "DescribeDBLogFiles":
            found = (
                f"<DescribeDBLogFiles><DescribeDBLogFilesDetails><LogFileName>{LIVE}</LogFileName>"
                f"<LastWritten>{NOW}000</LastWritten><Size>{ends[-1]}</Size></DescribeDBLogFilesDetails>"
                "</DescribeDBLogFiles>"
            )
        else:
            number = starts[int(form["Marker"].rpartition(":")[2])]
            is_more = number + 1 < len(bodies)
            data = bodies[number] if number < len(bodies) else ""
            marker = ends[min(number, len(ends) - 1)]
            found = (
                f"<LogFileData>{data}</LogFileData><Marker>16:{marker}</Marker>"
                f"<AdditionalDataPending>{str(is_more).lower()}</AdditionalDataPending>"
            )
        text = f"<{action}Response><{action}Result>{found}</{action}Result></{action}Response>"
        return "text/xml", text.encode(), {}

    return answer, ends[-1]


def cloudwatch(megabytes: float) -> tuple[Answer, int]:
    """Returns a service with one stream, and the bytes of its file. An event is an entry."""
    at, pages, size = (NOW - 80_000) * 1000, [], 0
    for part in portions(entries(megabytes), PORTION_BYTES):
        events = []
        for entry in part:
            at += 20
            event_id = f"{at:032}{len(events):024}"
            size += len(entry.encode())
            message = {"message": entry.removesuffix("\n"), "ingestionTime": at, "eventId": event_id}
            events.append({"logStreamName": "prod", "timestamp": at, **message})
        pages.append((events, json.dumps(events)))

    def answer(_: str, __: str, body: bytes, ___: dict[str, str]) -> tuple[str, bytes, dict[str, str]]:
        asked = json.loads(body)
        start = asked["startTime"]
        begin = next((n for n, page in enumerate(pages) if page[0][-1]["timestamp"] >= start), len(pages))
        number = int(asked.get("nextToken", begin))
        events = pages[number][1] if number < len(pages) else "[]"
        if number == begin < len(pages):
            events = json.dumps([each for each in pages[number][0] if each["timestamp"] >= start])
        token = f', "nextToken": "{number + 1}"' if number + 1 < len(pages) else ""
        return "application/x-amz-json-1.1", f'{{"events": {events}{token}}}'.encode(), {}

    return answer, size


def objects(megabytes: float) -> tuple[Answer, int]:
    """Returns a bucket with the log of a server of Cloud SQL as JSON, and the bytes of its file."""
    size, contents = 0, []
    resource_of = {"type": "cloudsql_database", "labels": {"database_id": "shop:prod"}}
    name = "projects/shop/logs/cloudsql.googleapis.com%2Fmysql-slow.log"
    numbers = itertools.count()
    for part in portions(entries(megabytes), OBJECT_BYTES):
        size += sum(len(each.encode()) for each in part)
        lines = [
            json.dumps(
                {
                    "insertId": f"{next(numbers)}",
                    "logName": name,
                    "resource": resource_of,
                    "textPayload": entry.removesuffix("\n"),
                    "timestamp": "2026-11-27T10:00:00.123456Z",
                }
            )
            for entry in part
        ]
        contents.append(("\n".join(lines) + "\n").encode())
    return _bucket({f"mysql/{number:03}.json": each for number, each in enumerate(contents)}), size


def exports(megabytes: float) -> tuple[Answer, int]:
    """Returns a bucket with the objects of an export task of CloudWatch Logs, and the bytes of its file."""
    size, contents = 0, {}
    for number, part in enumerate(portions(entries(megabytes), OBJECT_BYTES)):
        size += sum(len(each.encode()) for each in part)
        packed = gzip.compress("".join(f"2026-11-27T10:00:00.000Z {each}" for each in part).encode(), 1)
        contents[f"mysql/task/prod/{number:06}.gz"] = packed
    return _bucket(contents), size


def _bucket(contents: dict[str, bytes]) -> Answer:
    modified = datetime.now(UTC)
    listed = "".join(
        f'<Contents><Key>{name}</Key><Size>{len(each)}</Size><ETag>"1"</ETag>'
        f"<LastModified>{modified:%Y-%m-%dT%H:%M:%S.000Z}</LastModified></Contents>"
        for name, each in contents.items()
    )
    listing = f"<ListBucketResult><IsTruncated>false</IsTruncated>{listed}</ListBucketResult>".encode()

    def answer(path: str, _: str, __: bytes, headers: dict[str, str]) -> tuple[str, bytes, dict[str, str]]:
        name = urllib.parse.unquote(urllib.parse.urlsplit(path).path).removeprefix("/logs").lstrip("/")
        if not name:
            return "application/xml", listing, {}
        first, last = map(int, headers["range"].removeprefix("bytes=").split("-"))
        body = contents[name][first : last + 1]
        given = f"bytes {first}-{first + len(body) - 1}/{len(contents[name])}"
        at = format_datetime(modified, usegmt=True)
        return "application/octet-stream", body, {"Content-Range": given, "ETag": '"1"', "Last-Modified": at}

    return answer


SOURCES: dict[str, tuple[Callable[[float], tuple[Answer, int]], dict[str, str]]] = {
    "rds": (rds, {"kind": "rds", "region": "eu-central-1"}),
    "cloudwatch": (cloudwatch, {"kind": "cloudwatch", "region": "eu-central-1"}),
    "objects": (objects, {"kind": "objects", "url": "gs://logs/mysql"}),
    "exports": (exports, {"kind": "objects", "url": "s3://logs/mysql", "region": "eu-central-1"}),
}


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """Yields the address of a service on loopback."""

    class Requests(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            kind, content, more = answer(
                self.path, self.command, body, {k.lower(): v for k, v in self.headers.items()}
            )
            self.send_response(206 if "Content-Range" in more else 200)
            for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **more}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def measured(name: str, megabytes: float) -> tuple[int, float]:
    """Pulls a log of this size once; returns its bytes and the CPU-seconds of the puller. Raises
    RuntimeError if other bytes were written."""
    make, keys = SOURCES[name]
    answer, size = make(megabytes)
    with serving(answer) as address, tempfile.TemporaryDirectory() as directory:
        log = {"instance": "db", "cluster": "db", "source": "slowlog", "db_instance": "prod"}
        listed = Path(directory, "logs.json")
        listed.write_text(json.dumps([{**log, **keys, "endpoint": address}]))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "tailrace_pull", "once", "--logs", listed, "-o", f"{directory}/out"],
            env={
                **os.environ,
                "PYTHONPATH": pull.PROGRAMS,
                "AWS_ACCESS_KEY_ID": "id",
                "AWS_SECRET_ACCESS_KEY": "unused",
                "GOOGLE_SKIP_SIGNATURE": "true",
            },
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        written = b"".join(file.read_bytes() for file in Path(directory, "out").rglob("*") if file.is_file())
    if written != "".join(entries(megabytes)).encode():
        raise RuntimeError(f"{name}: {len(written)} bytes were written, which are not the {size} of the log")
    return size, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-pull", description=__doc__)
    parser.add_argument("--megabytes", type=float, default=100, help="size of each log")
    parser.add_argument("--only", choices=SOURCES, action="append", help="these kinds of logs")
    options = parser.parse_args()
    print(f"{'log':<12}{'MB':>8}{'CPU-seconds':>14}{'MB per CPU-second':>20}")
    for name in options.only or SOURCES:
        _, start = measured(name, 0)
        size, seconds = measured(name, options.megabytes)
        spent = seconds - start
        print(f"{name:<12}{size / MB:>8.0f}{spent:>14.1f}{size / MB / spent:>20.1f}")


if __name__ == "__main__":
    main()
