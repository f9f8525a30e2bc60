"""`python -m tailrace.health`: serves metrics in Prometheus' text format until SIGTERM.

/metrics contains the metrics of ClickHouse, of the jobs, of the puller and of the transparency log at the
given addresses and paths.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from prometheus_client.metrics_core import Metric

from tailrace.clickhouse.client import ClickHouse
from tailrace.health import exporter, pulled, transparency
from tailrace.health import metrics as health_metrics

ACCOUNT = "reader_compliance"


def main() -> int:
    arguments = _arguments()
    exporter.serve(arguments.listen, _reader(arguments))
    return 0


def _reader(arguments: argparse.Namespace) -> Callable[[str], str]:
    def read(path: str) -> str:
        if path != exporter.PATH:
            raise KeyError(path)
        return exporter.text(metrics())

    metrics = _metrics(arguments)
    return read


def _metrics(arguments: argparse.Namespace) -> Callable[[], Iterator[Metric]]:
    """Returns a function that reads everything that the arguments name."""
    password = arguments.password_file.read_text().strip()
    addresses = dict(job.split("=", maxsplit=1) for job in arguments.job)
    jobs = {name: health_metrics.rest_client(address) for name, address in addresses.items()}

    def read() -> Iterator[Metric]:
        if arguments.clickhouse:
            clickhouse = ClickHouse(arguments.clickhouse, arguments.user, password)
            yield from health_metrics.job_metrics(jobs)
            yield from health_metrics.ledger_metrics(clickhouse)
        if arguments.pulled:
            yield from pulled.metrics_of_heartbeat(arguments.pulled)
        if arguments.transparency:
            yield from transparency.metrics_of(arguments.transparency)

    return read


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tailrace.health",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--listen", required=True, metavar="HOST:PORT")
    parser.add_argument("--clickhouse", metavar="URL", help="such as http://clickhouse:8123")
    parser.add_argument("--user", default=ACCOUNT)
    parser.add_argument("--password-file", type=Path, default=Path(os.devnull))
    parser.add_argument(
        "--job",
        action="append",
        default=[],
        metavar="NAME=URL",
        help="a job and the address of its Flink REST interface",
    )
    parser.add_argument(
        "--pulled", type=Path, metavar="FILE", help="the heartbeat file of the puller (docs/PULL.md)"
    )
    parser.add_argument(
        "--transparency", type=Path, metavar="DIR", help="the transparency log (docs/TRANSPARENCY.md)"
    )
    arguments = parser.parse_args()
    if not (arguments.clickhouse or arguments.pulled or arguments.transparency):
        parser.error("--clickhouse, --pulled or --transparency is required")
    if arguments.job and not arguments.clickhouse:
        parser.error("--job needs --clickhouse")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
