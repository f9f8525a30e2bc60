"""Actions of other tools over HTTP: they are recorded once, by the code and the audit trail of the CLI."""

import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote_plus

import pytest

from e2e.alert_rows import alert
from e2e.callback_requests import NOW, SECRET, signed
from e2e.limits import LIMIT_SECONDS
from tailrace.alerts.callbacks import config
from tailrace.alerts.callbacks.server import CallbackServer
from tailrace.alerts.callbacks.service import Callbacks
from tailrace.alerts.delivery.delivery_log import DELIVERED, Due, Outcome, Progress
from tailrace.alerts.delivery.selection import Selection
from tailrace.clickhouse.client import ClickHouse, new_token
from tailrace.config.resources import REPOSITORY

GOLDEN = Path(__file__).parents[2] / "embedded" / "tests" / "golden" / "callbacks"
KINDS = ("pagerduty", "opsgenie", "jira", "servicenow", "slack", "webhook")
ID = "01234567-89ab-cdef-0123-456789abcdef"


@dataclass
class Tool:
    """The service in this process, with a clock that the test sets, and the requests of tools."""

    callbacks: Callbacks
    server: CallbackServer
    lines: list[str]
    now: list[float] = field(default_factory=lambda: [NOW])

    def post(self, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
        """Returns status and outcome."""
        return post(self.server.server_address[1], path, body, headers)

    def get(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.server.server_address[1], timeout=LIMIT_SECONDS
        )
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def own(self, **content: object) -> tuple[int, str]:
        """Sends a request in the format of docs/ALERTS.md."""
        given = {"id": "1", "alert": ID, "action": "ack", "user": "ann", "reason": "on it", **content}
        body = json.dumps(given).encode()
        return self.post("/callbacks/webhook", body, signed("webhook", body, at=self.now[0]))


def post(port: int, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
    """Returns status and outcome of a request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT_SECONDS)
    connection.request("POST", path, body, headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, json.loads(content)["outcome"]


@pytest.fixture
def stored(admin: ClickHouse) -> ClickHouse:
    """The administrator's connection to a server with one alert."""
    admin.insert("tailrace.alerts", [alert(alert_id=ID)], async_insert=0)
    return admin


@pytest.fixture
def tool(stored, user, tmp_path) -> Iterator[Tool]:
    yield from serving(user("analyst"), tmp_path)


def serving(clickhouse: ClickHouse, directory: Path) -> Iterator[Tool]:
    (directory / "secret").write_bytes(b"an old secret\n" + SECRET + b"\n")
    sources = [{"name": kind, "kind": kind, "secret_file": "secret"} for kind in KINDS]
    (directory / "callbacks.yaml").write_text(json.dumps({"max_body": 4096, "sources": sources}))
    found = config.load(directory / "callbacks.yaml")
    lines: list[str] = []
    now = [NOW]
    callbacks = Callbacks(found, clickhouse, lines.append, lambda: now[0])
    with CallbackServer(found, callbacks, found.bind, 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield Tool(callbacks, server, lines, now)
        server.shutdown()
        thread.join()


def actions(clickhouse: ClickHouse) -> list[tuple]:
    rows = clickhouse.rows(
        "SELECT action, actor, assignee, verdict, channel, account FROM tailrace.alert_actions ORDER BY at"
    )
    return [tuple(row.values()) for row in rows]


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("pagerduty", "acknowledged", [("ack", "pagerduty:Ann Smith", "", "")]),
        ("opsgenie", "closed", [("close", "opsgenie:ann@example.com", "", "")]),
        ("jira", "done", [("assign", "jira:Ann Smith", "Bob", ""), ("close", "jira:Ann Smith", "", "")]),
        ("servicenow", "close", [("close", "servicenow:Ann Smith", "", "benign")]),
        ("slack", "close", [("close", "slack:ann", "", "false positive")]),
    ],
)
def test_an_action_of_a_tool_is_recorded_once_for_its_user(tool, stored, kind, name, expected):
    text = (GOLDEN / f"{kind}_{name}.json").read_text()
    body = f"payload={quote_plus(text)}" if kind == "slack" else text
    sent = f"/callbacks/{kind}", body.encode(), signed(kind, body.encode())
    assert tool.post(*sent) == (200, "recorded")
    assert actions(stored) == [(*each, kind, "analyst") for each in expected]

    tool.now[0] += 60
    assert tool.post(*sent) == (200, "duplicate")
    assert len(actions(stored)) == len(expected)


def test_a_request_that_is_not_by_the_tool_changes_nothing(tool, stored):
    body = (GOLDEN / "pagerduty_acknowledged.json").read_bytes()
    right = signed("pagerduty", body)
    assert tool.post("/callbacks/pagerduty", body, {}) == (401, "unauthenticated")
    assert tool.post("/callbacks/pagerduty", body, signed("pagerduty", body, b"x")) == (
        401,
        "unauthenticated",
    )
    assert tool.post("/callbacks/pagerduty", body.replace(b"Ann", b"Eve"), right) == (401, "unauthenticated")
    assert tool.post("/callbacks/nobody", body, right) == (404, "unknown")
    tool.now[0] += 86_400
    assert tool.post("/callbacks/pagerduty", body, right) == (401, "unauthenticated"), "an old event"
    assert actions(stored) == []

    status, text = tool.get("/metrics")
    assert status == 200
    assert 'tailrace_callback_requests_total{source="pagerduty",outcome="unauthenticated"} 4\n' in text
    assert 'tailrace_callback_requests_total{source="pagerduty",outcome="recorded"} 0\n' in text
    assert "pagerduty: unauthenticated (401): no header X-PagerDuty-Signature, from 127.0.0.1" in tool.lines


def test_an_action_that_the_state_does_not_allow_is_a_conflict(tool, stored):
    assert tool.own(action="reopen") == (409, "conflict")
    assert tool.own(id="2", action="close", verdict="true-positive") == (200, "recorded")
    assert tool.own(id="3", action="close") == (409, "conflict")
    assert tool.own(id="4", action="assign", assignee="bob") == (409, "conflict")
    assert tool.own(id="5", action="reopen") == (200, "recorded")
    assert tool.own(id="6", action="acknowledge") == (200, "recorded")
    assert [each[0] for each in actions(stored)] == ["close", "reopen", "ack"]


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ({"alert": "ab" * 16}, (404, "unknown")),
        ({"alert": ID[:8]}, (400, "malformed")),
        ({"action": "delete"}, (400, "malformed")),
        ({"reason": " "}, (400, "malformed")),
        ({"verdict": "unclear", "action": "close"}, (400, "malformed")),
        ({"hint": "x"}, (400, "malformed")),
        ({"reason": "x" * 5000}, (413, "too large")),
    ],
)
def test_an_invalid_request_is_refused(tool, stored, content, status):
    assert tool.own(**content) == status
    assert actions(stored) == []


def test_a_request_during_an_outage_of_clickhouse_is_to_be_repeated(tmp_path):
    for tool in serving(ClickHouse("http://127.0.0.1:1", "analyst"), tmp_path):
        assert tool.own() == (503, "unavailable")
        assert tool.get("/health") == (200, "ok\n")


def test_requests_that_arrive_together_are_recorded_once(tool, stored):
    with ThreadPoolExecutor(8) as senders:
        answers = [each.result() for each in [senders.submit(tool.own) for _ in range(8)]]
    assert sorted(outcome for _, outcome in answers) == ["duplicate"] * 7 + ["recorded"]
    assert len(actions(stored)) == 1


def test_connections_above_the_limit_are_closed(tool):
    taken = [tool.server._free.acquire(blocking=False) for _ in range(32)]
    assert all(taken)
    with pytest.raises((http.client.HTTPException, OSError)):
        tool.get("/health")
    tool.server._free.release()
    assert tool.get("/health")[0] == 200


def test_a_close_is_not_sent_back_to_the_tool_that_reported_it(tool, stored, user):
    channels = [Progress(user("delivery"), name, Selection(), resolves=True) for name in ("webhook", "other")]
    for channel in channels:
        channel.due(3600, 10)  # the channel begins
    other = "ffffffff-89ab-cdef-0123-456789abcdef"
    stored.insert("tailrace.alerts", [alert(alert_id=other)], async_insert=0)

    def due(channel: Progress) -> Due:
        (found,) = [each for each in channel.due(3600, 10) if each.id == other.replace("-", "")]
        return found

    for channel in channels:
        channel.record([due(channel)], Outcome(DELIVERED, ""), new_token())
    assert tool.own(alert=other, action="close") == (200, "recorded")
    assert [(due(each).is_closed, due(each).is_closed_there) for each in channels] == [
        (True, True),
        (True, False),
    ]


def test_a_program_that_was_killed_answers_a_repeated_request_as_a_duplicate(stored, user, tmp_path):
    analyst = user("analyst")
    (tmp_path / "password").write_text(analyst.password)
    (tmp_path / "secret").write_bytes(SECRET)
    source = {"name": "own", "kind": "webhook", "secret_file": "secret"}
    (tmp_path / "callbacks.yaml").write_text(json.dumps({"sources": [source]}))
    given = {"id": "1", "alert": ID, "action": "close", "user": "ann", "reason": "planned"}
    body = json.dumps(given).encode()
    with program(tmp_path, analyst.url) as (process, port):
        assert sent(port, body) == (200, "recorded")
        process.kill()
    with program(tmp_path, analyst.url) as (process, port):
        assert sent(port, body) == (200, "duplicate")
        assert json.loads((tmp_path / "beat").read_text())["problem"] == ""
        process.terminate()
        assert process.wait(LIMIT_SECONDS) == 0
    assert len(actions(stored)) == 1


@contextmanager
def program(directory: Path, clickhouse: str) -> Iterator[tuple[subprocess.Popen, int]]:
    """Runs `python -m tailrace.callbacks` on a free port, with the real clock."""
    words = ["--config", directory / "callbacks.yaml", "--clickhouse", clickhouse, "--port", "0"]
    words += ["--password-file", directory / "password", "--heartbeat-file", directory / "beat"]
    command = [sys.executable, "-m", "tailrace.callbacks", *words]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "embedded")}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline()
        yield process, int(line.rpartition("port ")[2])
        process.kill()


def sent(port: int, body: bytes) -> tuple[int, str]:
    return post(port, "/callbacks/own", body, signed("webhook", body, at=time.time()))
