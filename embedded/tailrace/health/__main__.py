"""`python -m tailrace.health`: serves metrics in Prometheus' text format until SIGTERM.

/metrics has Tailrace's own. Beside a supervisor (--home) it has those of the parts too, at /metrics/<part>;
else it tells what ClickHouse and the jobs at the given addresses know.
"""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import Metric

from tailrace.clickhouse import ClickHouse, ClickHouseError
from tailrace.health import facts, stack
from tailrace.home import Home
from tailrace.settings import Settings
from tailrace.stack.control import NotRunningError

PATH = "/metrics"


class Collected:
    """What `generate_latest` asks for a registry."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def text(metrics: Iterable[Metric]) -> str:
    """In Prometheus' text format."""
    return generate_latest(Collected(metrics)).decode()  # type: ignore[arg-type]


def server(address: tuple[str, int], read: Callable[[str], str]) -> ThreadingHTTPServer:
    """A server that answers GET with what `read` makes of the path; KeyError: 404. One reads at a time,
    so that who asks often does not have the books read many times at once."""
    lock = Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                status, body = 200, self._read()
            except KeyError:
                status, body = 404, f"nothing is here; see {PATH}\n"
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
            """Nobody reads a line per scrape."""

    return ThreadingHTTPServer(address, Handler)


def main() -> int:
    arguments = _arguments()
    host, _, port = arguments.listen.rpartition(":")
    serving = server((host, int(port)), _of_stack() if arguments.home else _of_addresses(arguments))
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: Thread(target=serving.shutdown).start())
    serving.serve_forever()
    return 0


def _of_stack() -> Callable[[str], str]:
    settings = Settings.from_environment()
    home = Home(settings.home)

    def read(path: str) -> str:
        if path == PATH:
            return text(stack.own(settings, home))
        name = path.removeprefix(f"{PATH}/")
        return stack.of_part(settings, home, name)

    return read


def _of_addresses(arguments: argparse.Namespace) -> Callable[[str], str]:
    password = arguments.password_file.read_text().strip()
    clickhouse = ClickHouse(arguments.clickhouse, arguments.user, password)
    addresses = dict(job.split("=", maxsplit=1) for job in arguments.job)
    jobs = {name: facts.asked_at(address) for name, address in addresses.items()}

    def read(path: str) -> str:
        if path != PATH:
            raise KeyError(path)
        return text([*facts.of_jobs(jobs), *facts.of_books(clickhouse)])

    return read


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tailrace.health",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--listen", required=True, metavar="HOST:PORT")
    parser.add_argument("--home", action="store_true", help="beside the supervisor of TAILRACE_HOME")
    parser.add_argument("--clickhouse", metavar="URL", help="such as http://clickhouse:8123")
    parser.add_argument("--user", default=stack.ACCOUNT)
    parser.add_argument("--password-file", type=Path, default=Path(os.devnull))
    parser.add_argument(
        "--job", action="append", default=[], metavar="NAME=URL", help="of Flink's REST interface"
    )
    arguments = parser.parse_args()
    if not arguments.home and not arguments.clickhouse:
        parser.error("either --home or --clickhouse")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
