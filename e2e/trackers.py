"""A tracker on loopback with the parts of the APIs of Jira Cloud and ServiceNow that Tailrace uses.

It validates each request by the published rules of both products, and stores issues and rows, so that a
test sees which tickets exist. An invalid request is answered with the status and the messages of the product,
and is listed in `refused`.
"""

import base64
import contextlib
import json
import re
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USER, PASSWORD = "tailrace", "correct horse battery staple"
STATUSES = {"To Do": "new", "In Progress": "indeterminate", "Done": "done"}
"""Statuses of issues and the keys of their categories."""
MAX_SUMMARY = 255
ADF_BLOCKS = ("paragraph", "heading", "bulletList", "codeBlock")
INCIDENT = {
    *("short_description", "description", "impact", "urgency", "correlation_id", "correlation_display"),
    *("work_notes", "state", "close_code", "close_notes", "assignment_group"),
}
EVENT = {
    *("source", "node", "type", "resource", "message_key", "severity", "resolution_state"),
    *("time_of_event", "description", "additional_info", "metric_name"),
}
_JQL = re.compile(r'project = "([A-Z]+)" AND labels = "([a-z0-9-]+)" ORDER BY created ASC')
_QUERY = re.compile(r"correlation_id=([0-9a-f]+)\^stateNOT IN7,8\^ORDERBYsys_created_on")


class InvalidError(Exception):
    """A request breaks a rule of the product."""

    def __init__(self, status: int, **errors: str) -> None:
        super().__init__(str(errors))
        self.status = status
        self.errors = errors


@dataclass
class Tracker:
    """The stored tickets. Calls of `before_answer` happen when a request has been carried out."""

    port: int
    issues: list[dict] = field(default_factory=list)
    rows: dict[str, list[dict]] = field(default_factory=lambda: {"incident": [], "em_event": []})
    requests: list[str] = field(default_factory=list)
    """Method and path of each request."""
    refused: list[InvalidError] = field(default_factory=list)
    before_answer: Callable[[str], None] = lambda _: None
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, method: str, path: str, query: dict[str, str], body: dict) -> tuple[int, dict | None]:
        """Carries out a request; returns status and body."""
        with self.lock:
            for pattern, expected, handler in ROUTES:
                if expected == method and (found := re.fullmatch(pattern, path)):
                    return handler(self, *found.groups(), query=query, body=body)
        raise InvalidError(404, path="no such resource")

    def issue(self, key: str) -> dict:
        return next(each for each in self.issues if each["key"] == key)

    def move(self, key: str, status: str) -> None:
        """Changes the status of an issue, as a person does."""
        self.issue(key)["status"] = status


def check_document(document: object) -> None:
    """Checks the part of Atlassian Document Format, version 1, that Tailrace uses. Raises InvalidError."""
    if not isinstance(document, dict) or (document["type"], document["version"]) != ("doc", 1):
        raise InvalidError(400, description="Operation value must be an Atlassian Document")
    for block in document["content"]:
        if block["type"] not in ADF_BLOCKS or not block["content"]:
            raise InvalidError(400, description=f"unknown or empty block {block['type']}")
        if block["type"] == "bulletList":
            for item in block["content"]:
                _expect(item["type"] == "listItem" and item["content"][0]["type"] == "paragraph", "listItem")
                _check_texts(item["content"][0]["content"])
        else:
            _check_texts(block["content"])


def _check_texts(nodes: list[dict]) -> None:
    for node in nodes:
        _expect(node["type"] == "text" and bool(node["text"]), "text nodes are not empty")
        for mark in node.get("marks", []):
            _expect(mark["type"] in ("link", "code", "strong"), "marks")
            _expect(mark["type"] != "link" or "href" in mark["attrs"], "href of a link")


def _expect(condition: bool, what: str) -> None:
    if not condition:
        raise InvalidError(400, description=f"invalid document: {what}")


def _create_issue(tracker: Tracker, query: dict, body: dict) -> tuple[int, dict]:
    fields = body["fields"]
    if fields["project"] != {"key": "SEC"}:
        raise InvalidError(400, project="valid project is required")
    if not 0 < len(fields["summary"]) <= MAX_SUMMARY or "\n" in fields["summary"]:
        raise InvalidError(400, summary="Summary must be one line of at most 255 characters.")
    if any(" " in each for each in fields["labels"]):
        raise InvalidError(400, labels="The label contains spaces which is invalid.")
    if set(fields) - {"project", "issuetype", "summary", "description", "labels", "priority"}:
        raise InvalidError(400, fields="a field is not on the screen")
    check_document(fields["description"])
    number = len(tracker.issues) + 1
    properties = {each["key"]: each["value"] for each in body.get("properties", [])}
    made = {"id": str(10_000 + number), "key": f"SEC-{number}", "fields": fields, "properties": properties}
    tracker.issues.append({**made, "status": "To Do", "comments": []})
    return 201, {"id": made["id"], "key": made["key"], "self": f"{tracker.url}/rest/api/3/issue/{made['id']}"}


def _search(tracker: Tracker, query: dict, body: dict) -> tuple[int, dict]:
    found = _JQL.fullmatch(body["jql"])
    if not found or set(body) - {"jql", "fields", "properties", "maxResults", "nextPageToken"}:
        raise InvalidError(400, jql=f"Error in the JQL Query: {body}")
    matching = [each for each in tracker.issues if found[2] in each["fields"]["labels"]]
    shown = [
        {
            "id": each["id"],
            "key": each["key"],
            "fields": {"status": _status(each["status"])},
            "properties": {name: each["properties"][name] for name in body["properties"]},
        }
        for each in matching
    ]
    return 200, {"issues": shown[: body["maxResults"]], "isLast": True}


def _status(name: str) -> dict:
    return {"name": name, "statusCategory": {"key": STATUSES[name]}}


def _transitions(tracker: Tracker, key: str, query: dict, body: dict) -> tuple[int, dict]:
    now = tracker.issue(key)["status"]
    to = [name for name in STATUSES if name != now]
    return 200, {"transitions": [{"id": name, "name": f"to {name}", "to": _status(name)} for name in to]}


def _move(tracker: Tracker, key: str, query: dict, body: dict) -> tuple[int, None]:
    if body["transition"]["id"] not in STATUSES:
        raise InvalidError(400, transition="It is not on the appropriate step")
    tracker.move(key, body["transition"]["id"])
    return 204, None


def _comments(tracker: Tracker, key: str, query: dict, body: dict) -> tuple[int, dict]:
    return 200, {"comments": tracker.issue(key)["comments"][::-1], "startAt": 0}


def _comment(tracker: Tracker, key: str, query: dict, body: dict) -> tuple[int, dict]:
    check_document(body["body"])
    tracker.issue(key)["comments"].append(body)
    return 201, {"id": "1", **body}


def _insert(tracker: Tracker, table: str, query: dict, body: dict) -> tuple[int, dict]:
    allowed = INCIDENT if table == "incident" else EVENT
    if set(body) - allowed or not all(isinstance(each, str) for each in body.values()):
        raise InvalidError(400, message=f"unknown fields {set(body) - allowed}")
    if table == "em_event":
        json.loads(body["additional_info"])
        if body["severity"] not in "012345" or not body["message_key"]:
            raise InvalidError(400, message="severity")
    rows = tracker.rows[table]
    made = {"sys_id": f"{len(rows) + 1:032x}", "number": f"INC{len(rows) + 1:07}", "state": "1", **body}
    rows.append(made)
    return 201, {"result": made}


def _select(tracker: Tracker, table: str, query: dict, body: dict) -> tuple[int, dict]:
    found = _QUERY.fullmatch(query["sysparm_query"])
    if not found:
        raise InvalidError(400, message="Invalid query")
    rows = [row for row in tracker.rows[table] if row["correlation_id"] == found[1]]
    names = query["sysparm_fields"].split(",")
    open_ = [{name: row[name] for name in names} for row in rows if row["state"] not in ("7", "8")]
    return 200, {"result": open_[: int(query["sysparm_limit"])]}


def _change(tracker: Tracker, table: str, sys_id: str, query: dict, body: dict) -> tuple[int, dict]:
    (row,) = [each for each in tracker.rows[table] if each["sys_id"] == sys_id]
    if body.get("state") == "6" and not {"close_code", "close_notes"} <= set(body):
        raise InvalidError(403, message="Data Policy Exception: Resolution code, Resolution notes")
    notes = [*row.get("notes", []), *([body["work_notes"]] if "work_notes" in body else [])]
    row |= {**body, "notes": notes}
    return 200, {"result": row}


ROUTES = (
    ("/rest/api/3/issue", "POST", _create_issue),
    ("/rest/api/3/search/jql", "POST", _search),
    ("/rest/api/3/issue/([A-Z]+-[0-9]+)/transitions", "GET", _transitions),
    ("/rest/api/3/issue/([A-Z]+-[0-9]+)/transitions", "POST", _move),
    ("/rest/api/3/issue/([A-Z]+-[0-9]+)/comment", "GET", _comments),
    ("/rest/api/3/issue/([A-Z]+-[0-9]+)/comment", "POST", _comment),
    ("/api/now/table/(incident|em_event)", "POST", _insert),
    ("/api/now/table/(incident)", "GET", _select),
    ("/api/now/table/(incident)/([0-9a-f]{32})", "PATCH", _change),
)


def _handler_of(tracker: Tracker) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            url = urllib.parse.urlsplit(self.path)
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            tracker.requests.append(f"{self.command} {url.path}")
            try:
                self._check_login()
                query = dict(urllib.parse.parse_qsl(url.query))
                status, body = tracker.answer(self.command, url.path, query, json.loads(content or b"{}"))
            except InvalidError as error:
                tracker.refused.append(error)
                status, body = error.status, {"errorMessages": [], "errors": error.errors}
            tracker.before_answer(f"{self.command} {url.path}")
            self._say(status, body)

        do_GET = do_PATCH = do_POST  # noqa: N815 - names of http.server

        def _check_login(self) -> None:
            expected = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
            if self.headers["Authorization"] != f"Basic {expected}":
                raise InvalidError(401, message="User Not Authenticated")

        def _say(self, status: int, body: dict | None) -> None:
            content = b"" if body is None else json.dumps(body).encode()
            with contextlib.suppress(OSError):  # the client may have been killed
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Logs nothing."""

    return Handler


@contextlib.contextmanager
def tracker_at(port: int = 0) -> Iterator[Tracker]:
    """Runs a tracker on 127.0.0.1 during the block."""
    tracker = Tracker(port)
    server = ThreadingHTTPServer(("127.0.0.1", port), _handler_of(tracker))
    tracker.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield tracker
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
