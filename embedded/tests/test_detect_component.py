"""The detect job's component with the responses of a small HTTP server."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace_local.components.detect import NO_RULES, Detect

JOB = {"jid": "ab12", "start-time": 1, "state": "RUNNING", "tasks": {"running": 2, "total": 2}}


@pytest.fixture
def detect(tmp_path) -> Iterator[Callable[[list[dict]], Detect]]:
    """Creates a component whose job has these accumulators."""
    servers = []

    def make(accumulators: list[dict]) -> Detect:
        answers = {
            "/jobs/overview": {"jobs": [JOB]},
            "/jobs/ab12/accumulators": {"job-accumulators": [], "user-task-accumulators": accumulators},
        }
        servers.append(HTTPServer(("127.0.0.1", 0), _handler(answers)))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        port = str(servers[-1].server_port)
        environment = {"TAILRACE_PORT_DETECT": port, "TAILRACE_HOME": str(tmp_path), "HOME": str(tmp_path)}
        return Detect(Settings.from_environment(environment), Home(tmp_path))

    yield make
    for server in servers:
        server.shutdown()
        server.server_close()


def _handler(answers: dict[str, object]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(answers[self.path]).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    return Handler


@pytest.mark.parametrize(("value", "problem"), [("0", NO_RULES), ("1", "")])
def test_a_job_without_rules_is_reported(detect, value, problem):
    component = detect([{"name": "rules-active", "type": "LongMaximum", "value": value}])
    assert component.health().ok
    assert component.problem() == problem


def test_a_job_without_a_result_yet_is_not_reported(detect):
    assert detect([]).problem() == ""
