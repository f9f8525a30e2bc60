"""An object store that answers as Amazon S3, Google Cloud Storage (XML API) or Azure Blob Storage do, and
misbehaves: short pages, errors, and objects that are deleted, replaced or grow between two requests.

It was written from the published REST interfaces, not tested against the services. It accepts only the
requests of a reader: a list of a prefix, and a range of an object.
"""

import hashlib
import random
import re
import threading
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

BUCKET = "logs"
RANGE = re.compile(r"bytes=(\d+)-(\d+)")
FAULTS = (500, 503)
SIGNED = {"s3": "AWS4-HMAC-SHA256 Credential=", "az": "SharedKey logs:", "gs": ""}
"""How the header Authorization begins."""
LISTS = {
    "s3": {"list-type": "2"},
    "gs": {"list-type": "2"},
    "az": {"restype": "container", "comp": "list"},
}
PAGING = {
    "s3": {"prefix", "max-keys", "continuation-token"},
    "gs": {"prefix", "max-keys", "continuation-token"},
    "az": {"prefix", "maxresults", "marker"},
}


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes = b""
    headers: Mapping[str, str] | None = None


@dataclass
class Stored:
    content: bytes
    modified: datetime

    @property
    def tag(self) -> str:
        written = f"{self.modified.timestamp()} ".encode()
        return f'"{hashlib.md5(written + self.content, usedforsecurity=False).hexdigest()}"'


class FakeObjects:
    """The objects of one bucket or container, in the dialect of a scheme: s3, gs or az. Thread-safe."""

    def __init__(self, scheme: str, seed: int = 1, page_objects: int = 1000, fault_rate: float = 0) -> None:
        self.scheme, self.now = scheme, datetime(2026, 11, 27, 10, tzinfo=UTC)
        self.calls = 0
        self.between_calls: Callable[[], None] = lambda: None
        """What happens between two requests."""
        self.denied: set[str] = set()
        """Refused requests: list, read."""
        self.objects: dict[str, Stored] = {}
        self._random = random.Random(seed)
        self._page_objects, self._fault_rate = page_objects, fault_rate
        self._lock = threading.RLock()

    def put(self, name: str, content: bytes) -> None:
        """Creates or replaces an object."""
        self.objects[name] = Stored(content, self.now)

    def append(self, name: str, content: bytes) -> None:
        before = self.objects[name].content if name in self.objects else b""
        self.put(name, before + content)

    def settle(self) -> None:
        """Ends the misbehaviour."""
        self._fault_rate, self.between_calls = 0, lambda: None

    def answer(self, path: str, headers: Mapping[str, str]) -> Answer:
        with self._lock:
            self.calls += 1
            self.between_calls()
            if self._random.random() < self._fault_rate:
                return Answer(self._random.choice(FAULTS))
            if not headers.get("Authorization", "").startswith(SIGNED[self.scheme]):
                return Answer(401)
            url = urllib.parse.urlsplit(path)
            query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
            bucket, _, name = urllib.parse.unquote(url.path).lstrip("/").partition("/")
            if bucket != BUCKET:
                return Answer(404)
            return self._read(name, headers) if name else self._list(query)

    def _list(self, query: dict[str, str]) -> Answer:
        if "list" in self.denied:
            return Answer(403)
        if {key: query.pop(key, "") for key in LISTS[self.scheme]} != LISTS[self.scheme]:
            return Answer(400)
        if query.keys() - PAGING[self.scheme]:
            return Answer(400)
        after = query.get("continuation-token") or query.get("marker") or ""
        prefix = query.get("prefix", "")
        left = sorted(name for name in self.objects if name.startswith(prefix) and name > after)
        page = left[: self._random.randint(1, self._page_objects)]
        more = page[-1] if len(page) < len(left) else ""
        write = _azure_list if self.scheme == "az" else _s3_list
        return Answer(200, write({name: self.objects[name] for name in page}, more).encode())

    def _read(self, name: str, headers: Mapping[str, str]) -> Answer:
        if "read" in self.denied:
            return Answer(403)
        found = self.objects.get(name)
        if found is None:
            return Answer(404)
        if headers.get("If-Match", found.tag) != found.tag:
            return Answer(412)
        first, last = map(int, RANGE.fullmatch(headers["Range"]).groups())
        if first >= len(found.content):
            return Answer(416)
        body = found.content[first : last + 1]
        given = {
            "ETag": found.tag,
            "Last-Modified": format_datetime(found.modified, usegmt=True),
            "Content-Range": f"bytes {first}-{first + len(body) - 1}/{len(found.content)}",
        }
        return Answer(206, body, given)


def _s3_list(page: Mapping[str, Stored], more: str) -> str:
    contents = "".join(
        f"<Contents><Key>{escape(name)}</Key><Size>{len(each.content)}</Size><ETag>{escape(each.tag)}</ETag>"
        f"<LastModified>{each.modified:%Y-%m-%dT%H:%M:%S.000Z}</LastModified></Contents>"
        for name, each in page.items()
    )
    token = f"<NextContinuationToken>{escape(more)}</NextContinuationToken>" if more else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<KeyCount>{len(page)}</KeyCount><IsTruncated>{str(bool(more)).lower()}</IsTruncated>{contents}{token}"
        "</ListBucketResult>"
    )


def _azure_list(page: Mapping[str, Stored], more: str) -> str:
    blobs = "".join(
        f"<Blob><Name>{escape(name)}</Name><Properties><Content-Length>{len(each.content)}</Content-Length>"
        f"<Last-Modified>{format_datetime(each.modified, usegmt=True)}</Last-Modified>"
        f"<Etag>{escape(each.tag)}</Etag><Content-Type>application/octet-stream</Content-Type>"
        "<BlobType>AppendBlob</BlobType></Properties></Blob>"
        for name, each in page.items()
    )
    return (
        f'<?xml version="1.0" encoding="utf-8"?><EnumerationResults><Blobs>{blobs}</Blobs>'
        f"<NextMarker>{escape(more)}</NextMarker></EnumerationResults>"
    )


def serve(fake: FakeObjects) -> ThreadingHTTPServer:
    """Returns a server on a free port of loopback; the caller runs and closes it."""

    class Requests(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            answer = fake.answer(self.path, self.headers)
            self.send_response(answer.status)
            for name, value in (answer.headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: object) -> None:
            pass

    return ThreadingHTTPServer(("127.0.0.1", 0), Requests)
