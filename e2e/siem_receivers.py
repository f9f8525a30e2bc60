"""Receivers of outputs on loopback that check the published format of each request and store what they
accept.

Each is a function of a request that returns status and body. `serving` runs one on a port of its own.
"""

import base64
import contextlib
import gzip
import json
import re
import threading
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256


@dataclass(frozen=True)
class Posted:
    """One request; the body is decompressed."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def query(self) -> Mapping[str, list[str]]:
        return urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)

    @property
    def route(self) -> str:
        return urllib.parse.urlsplit(self.path).path


Answering = Callable[[Posted], tuple[int, object] | tuple[int, object, Mapping[str, str]]]
"""Status and body, and further headers."""


@contextlib.contextmanager
def serving(answer: Answering, port: int = 0) -> Iterator[str]:
    """Runs a web server on 127.0.0.1 during the block; yields its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers["Content-Encoding"] == "gzip":
                body = gzip.decompress(body)
            status, said, *headers = answer(Posted(self.path, dict(self.headers), body))
            text = b"" if said is None else json.dumps(said).encode()
            self.send_response(status)
            for name, value in (headers[0] if headers else {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            """Logs nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Bulk:
    """Elasticsearch's `_bulk` with the operation `create`. `statuses`: answers to the next documents by
    their order, before they are stored; 0: stored."""

    statuses: list[int] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)
    """Answers to the next requests as a whole."""
    documents: dict[str, dict] = field(default_factory=dict)
    headers: list[Mapping[str, str]] = field(default_factory=list)

    def __call__(self, request: Posted) -> tuple[int, object]:
        self.headers.append(request.headers)
        if self.whole and (status := self.whole.pop(0)):
            return status, {"error": {"type": "of the test"}, "status": status}
        assert request.route == "/_bulk" and request.headers["Content-Type"] == "application/x-ndjson"
        assert request.body.endswith(b"\n")
        lines = [json.loads(line) for line in request.body.splitlines()]
        pairs = zip(lines[::2], lines[1::2], strict=True)
        items = [self._created(action["create"], document) for action, document in pairs]
        return 200, {
            "took": 1,
            "errors": any(each["create"]["status"] > 299 for each in items),
            "items": items,
        }

    def _created(self, action: Mapping, document: dict) -> dict:
        assert set(action) == {"_index", "_id"} and document["@timestamp"]
        status = self.statuses.pop(0) if self.statuses else 0
        if not status:
            status = 409 if action["_id"] in self.documents else 201
            self.documents.setdefault(action["_id"], document)
        said = {"error": {"type": "of_the_test", "reason": f"status {status}"}} if status > 299 else {}
        return {"create": {"_index": action["_index"], "_id": action["_id"], "status": status, **said}}


@dataclass
class Hec:
    """Splunk's HTTP Event Collector with indexer acknowledgement. Events are indexed when their request is
    acknowledged; `lost`: so many of the next requests are accepted and never indexed. A bad event is one
    whose `event` is a text."""

    lost: int = 0
    polls_before_ack: int = 1
    token: str = "the secret key"
    ids: Counter[str] = field(default_factory=Counter)
    """How often the event with each id was indexed."""
    _waiting: dict[tuple[str, int], list[dict]] = field(default_factory=dict)
    _polled: Counter[tuple[str, int]] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: Posted) -> tuple[int, object]:
        with self._lock:
            return self._answer(request)

    def _answer(self, request: Posted) -> tuple[int, object]:
        if request.headers["Authorization"] != f"Splunk {self.token}":
            return 403, {"text": "Invalid token", "code": 4}
        if request.route == "/services/collector/ack":
            return self._acknowledge(request.query["channel"][0], json.loads(request.body)["acks"])
        assert request.route == "/services/collector/event"
        channel = request.headers.get("X-Splunk-Request-Channel", "")
        if not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", channel):
            return 400, {"text": "Data channel is missing", "code": 10}
        events = [json.loads(line) for line in request.body.splitlines()]
        for number, event in enumerate(events):
            assert set(event) <= {"time", "host", "source", "sourcetype", "index", "event", "fields"}
            if isinstance(event["event"], str) or "REFUSE ME" in str(event):
                return 400, {"text": "Invalid data format", "code": 6, "invalid-event-number": number}
        ack = len(self._waiting)
        self._waiting[channel, ack] = events
        return 200, {"text": "Success", "code": 0, "ackId": ack}

    def _acknowledge(self, channel: str, acks: list[int]) -> tuple[int, object]:
        return 200, {"acks": {str(ack): self._indexed((channel, ack)) for ack in acks}}

    def _indexed(self, key: tuple[str, int]) -> bool:
        self._polled[key] += 1
        if self._polled[key] <= self.polls_before_ack or not self._waiting.get(key):
            return False
        if self.lost:
            self.lost -= 1
            self._waiting[key] = []
            return False
        self.ids.update(map(id_of, self._waiting[key]))
        self._waiting[key] = []
        return True


def id_of(event: Mapping) -> str:
    """Returns the id of an event of HEC in any of our formats."""
    document = event["event"]
    return (document.get("event") or document.get("metadata") or {}).get("id") or document["metadata"]["uid"]


@dataclass
class AzureMonitor:
    """Microsoft Entra's token endpoint, and a stream of the Logs Ingestion API."""

    tenant: str
    rule: str
    secret: str = "the secret key"
    rows: dict[str, dict] = field(default_factory=dict)
    tokens: int = 0
    sizes: list[int] = field(default_factory=list)

    def __call__(self, request: Posted) -> tuple[int, object]:
        if request.route == f"/{self.tenant}/oauth2/v2.0/token":
            return self._token(urllib.parse.parse_qs(request.body.decode()))
        path = f"/dataCollectionRules/{self.rule}/streams/Custom-Tailrace_CL?api-version=2023-01-01"
        assert request.path == path and request.headers["Content-Type"] == "application/json"
        if request.headers["Authorization"] != f"Bearer token-{self.tokens}":
            return 401, {"error": {"code": "InvalidToken"}}
        if len(request.body) > 1 << 20:
            return 413, {"error": {"code": "ContentLengthLimitExceeded"}}
        self.sizes.append(len(request.body))
        for row in json.loads(request.body):
            assert set(row) == {"TimeGenerated", "RecordId", "Kind", "Host", "Format", "Record"}
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", row["TimeGenerated"])
            self.rows[row["RecordId"]] = row
        return 204, None

    def _token(self, form: Mapping[str, list[str]]) -> tuple[int, object]:
        expected = {"grant_type": "client_credentials", "scope": "https://monitor.azure.com//.default"}
        assert {name: form[name][0] for name in expected} == expected and form["client_id"]
        if form["client_secret"] != [self.secret]:
            return 401, {"error": "invalid_client"}
        self.tokens += 1
        return 200, {"token_type": "Bearer", "expires_in": 3599, "access_token": f"token-{self.tokens}"}


@dataclass
class Chronicle:
    """Google's token endpoint, which verifies the assertion, and the Ingestion API of Google SecOps."""

    public_key: object
    customer_id: str
    entries: list[dict] = field(default_factory=list)
    events: dict[str, dict] = field(default_factory=dict)
    claims: dict = field(default_factory=dict)

    def __call__(self, request: Posted) -> tuple[int, object]:
        if request.route == "/token":
            return self._token(urllib.parse.parse_qs(request.body.decode()))
        assert request.headers["Authorization"] == "Bearer google"
        content = json.loads(request.body)
        assert content.pop("customer_id") == self.customer_id and len(request.body) <= 1_000_000
        if request.route == "/v2/udmevents:batchCreate":
            (events,) = content.values()
            return self._udm(events)
        assert request.route == "/v2/unstructuredlogentries:batchCreate"
        assert set(content) == {"log_type", "entries"} and content["log_type"] == "TAILRACE_CUSTOM"
        for entry in content["entries"]:
            assert set(entry) == {"log_text", "ts_rfc3339"} and entry["ts_rfc3339"].endswith("Z")
            self.entries.append(json.loads(entry["log_text"]))
        return 200, {}

    def _udm(self, events: list[dict]) -> tuple[int, object]:
        for event in events:
            metadata = event["metadata"]
            if metadata["event_type"] not in UDM_TYPES or not event["principal"]:
                return 400, {"error": {"message": "invalid event"}}
            assert isinstance(event["principal"].get("ip", []), list)
            self.events[metadata["product_log_id"]] = event
        return 200, {}

    def _token(self, form: Mapping[str, list[str]]) -> tuple[int, object]:
        assert form["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
        head, claims, signature = form["assertion"][0].split(".")
        assert json.loads(_unpadded(head)) == {"alg": "RS256", "typ": "JWT"}
        self.public_key.verify(_unpadded(signature), f"{head}.{claims}".encode(), PKCS1v15(), SHA256())
        self.claims = json.loads(_unpadded(claims))
        return 200, {"access_token": "google", "expires_in": 3599, "token_type": "Bearer"}


UDM_TYPES = ("USER_LOGIN", "USER_LOGOUT", "USER_RESOURCE_ACCESS", "GENERIC_EVENT")


def _unpadded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
