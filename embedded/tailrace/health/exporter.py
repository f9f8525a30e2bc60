"""Serves metrics in Prometheus' text format until SIGTERM."""

import signal
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import Metric

from tailrace.clickhouse.client import ClickHouseError
from tailrace.errors import NotRunningError
from tailrace.health.former_names import with_former_names

PATH = "/metrics"


class Collected:
    """The interface of a registry that `generate_latest` needs."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def text(metrics: Iterable[Metric]) -> str:
    """Returns metrics in Prometheus' text format, renamed ones also under their former names."""
    return generate_latest(Collected(with_former_names(metrics))).decode()  # type: ignore[arg-type]


def server(address: tuple[str, int], read: Callable[[str], str]) -> ThreadingHTTPServer:
    """Returns a server that answers GET with the result of `read` for the path; KeyError: 404. Reads are
    serialized, so that frequent requests do not query the ledger concurrently."""
    lock = Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                status, body = 200, self._read()
            except KeyError:
                status, body = 404, f"not found; see {PATH}\n"
            except (OSError, ClickHouseError, NotRunningError) as error:
                status, body = 503, f"{error}\n"
            self.send_response(status)
            self.send_header("Content-Type", CONTENT_TYPE_PLAIN_0_0_4 if status == 200 else "text/plain")
            self.end_headers()
            self.wfile.write(body.encode())

        def _read(self) -> str:
            if not self.path.startswith(PATH):
                raise KeyError(self.path)
            with lock:
                return read(self.path)

        def log_message(self, *_: object) -> None:
            """Suppresses the log line of each scrape."""

    return ThreadingHTTPServer(address, Handler)


def serve(listen: str, read: Callable[[str], str]) -> None:
    """Serves at `listen` (`host:port`) until SIGTERM or SIGINT."""
    host, _, port = listen.rpartition(":")
    serving = server((host, int(port)), read)
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: Thread(target=serving.shutdown).start())
    serving.serve_forever()
